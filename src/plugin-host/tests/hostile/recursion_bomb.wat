;; exports: routes
;; Recurses without end.
(func $deeper (param i64 i64 i64) (result i64)
  (i64.add (local.get 0) (call $deeper (local.get 1) (local.get 2) (local.get 0))))
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32)
  (drop (call $deeper (i64.const 1) (i64.const 2) (i64.const 3))) (call $ok))
