;; exports: routes decorate
;; Passes a string of 100 MiB to the host (route), or one of 256 KiB in an endless loop (hook).
(import "rookery:plugin/log@0.1.0" "emit" (func $emit (param i32 i32 i32 i32 i32)))
(func $long (param $pages i32) (local $at i32)
  (local.set $at (i32.shl (memory.grow (local.get $pages)) (i32.const 16)))
  (memory.fill (local.get $at) (i32.const 97) (i32.shl (local.get $pages) (i32.const 16)))
  (loop $again
    (call $emit (i32.const 2) (local.get $at) (i32.shl (local.get $pages) (i32.const 16)) (i32.const 0) (i32.const 0))
    (br $again)))
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32)
  (call $long (i32.const 1600)) (call $ok))
(func (export "rookery:plugin/decorate@0.1.0#decorate") (param i32 i64 i32 i32 i32 i32) (result i32)
  (call $long (i32.const 4)) (call $fine))
