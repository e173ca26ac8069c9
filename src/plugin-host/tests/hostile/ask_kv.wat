;; exports: routes decorate
;; Reads a key-value pair, which waits for the host.
(import "rookery:plugin/kv@0.1.0" "get" (func $get (param i32 i32 i32)))
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32)
  (call $get (i32.const 0) (i32.const 0) (i32.const 4096)) (call $ok))
(func (export "rookery:plugin/decorate@0.1.0#decorate") (param i32 i64 i32 i32 i32 i32) (result i32)
  (call $get (i32.const 0) (i32.const 0) (i32.const 4096)) (call $fine))
