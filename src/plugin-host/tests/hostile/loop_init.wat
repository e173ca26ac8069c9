;; exports: lifecycle routes
;; Loops forever in `init`.
(func (export "rookery:plugin/lifecycle@0.1.0#init")
  (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i32 i32) (result i32)
  (loop $again (br $again)) (call $fine))
(func (export "rookery:plugin/lifecycle@0.1.0#self-test") (result i32) (call $fine))
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32) (call $ok))
