;; exports: routes
;; Opens a hundred thousand handles to a resource of its own.
(import "[export]shelf" "[resource-new]thing" (func $new (param i32) (result i32)))
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32)
  (local $left i32)
  (local.set $left (i32.const 100000))
  (loop $again
    (drop (call $new (i32.const 0)))
    (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
  (call $ok))
