;; exports: routes
;; Answers with the key `who` of its configuration, and keeps a copy in memory.
(import "rookery:plugin/config@0.1.0" "get" (func $get (param i32 i32 i32)))
(data (i32.const 4096) "who")
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32)
  (call $get (i32.const 4096) (i32.const 3) (i32.const 4112))
  (i32.store (i32.const 1048) (i32.const 1))
  (i64.store (i32.const 1056) (i64.load (i32.const 4116)))
  (call $ok))
