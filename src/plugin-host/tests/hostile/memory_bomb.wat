;; exports: routes
;; Grows its memory without end, and writes to all of it.
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32)
  (local $at i32)
  (loop $again
    (local.set $at (memory.grow (i32.const 16)))
    (memory.fill (i32.shl (local.get $at) (i32.const 16)) (i32.const 1) (i32.const 1048576))
    (br $again))
  (call $ok))
