;; exports: routes
;; Writes a million log lines.
(import "rookery:plugin/log@0.1.0" "emit" (func $emit (param i32 i32 i32 i32 i32)))
(data (i32.const 4096) "again")
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32)
  (local $left i32)
  (local.set $left (i32.const 1000000))
  (loop $again
    (call $emit (i32.const 2) (i32.const 4096) (i32.const 5) (i32.const 0) (i32.const 0))
    (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
  (call $ok))
