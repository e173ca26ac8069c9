;; exports: routes
;; Answers with 64 MB of JSON.
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32)
  (i32.store (i32.const 1048) (i32.const 1))
  (i32.store (i32.const 1056) (i32.shl (memory.grow (i32.const 1024)) (i32.const 16)))
  (i32.store (i32.const 1060) (i32.const 67108864))
  (call $ok))
