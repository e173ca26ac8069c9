;; exports: routes decorate
;; Begins a hundred thousand transactions (route), or one whose handle it leaks (hook).
(import "rookery:plugin/sql@0.1.0" "[static]transaction.begin" (func $begin (param i32 i32)))
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32)
  (local $left i32)
  (local.set $left (i32.const 100000))
  (loop $again
    (call $begin (i32.const 0) (i32.const 4096))
    (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
  (call $ok))
(func (export "rookery:plugin/decorate@0.1.0#decorate") (param i32 i64 i32 i32 i32 i32) (result i32)
  (call $begin (i32.const 0) (i32.const 4096)) (call $fine))
