;; exports: routes decorate
;; Loops forever in a route or a hook.
(func $forever (loop $again (br $again)))
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32) (call $forever) (call $ok))
(func (export "rookery:plugin/decorate@0.1.0#decorate") (param i32 i64 i32 i32 i32 i32) (result i32)
  (call $forever) (call $fine))
