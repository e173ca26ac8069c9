;; exports: routes
;; Calls a host function a million times.
(import "rookery:plugin/system@0.1.0" "now" (func $now (result i64)))
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32)
  (local $left i32)
  (local.set $left (i32.const 1000000))
  (loop $again
    (drop (call $now))
    (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
  (call $ok))
