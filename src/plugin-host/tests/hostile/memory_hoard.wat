;; exports: decorate
;; Leaks 64 KiB with each call.
(func (export "rookery:plugin/decorate@0.1.0#decorate") (param i32 i64 i32 i32 i32 i32) (result i32)
  (drop (memory.grow (i32.const 1))) (call $fine))
