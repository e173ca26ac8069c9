;; exports: routes decorate events
;; Answers every call at once, without host calls.
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32) (call $ok))
(func (export "rookery:plugin/decorate@0.1.0#decorate") (param i32 i64 i32 i32 i32 i32) (result i32) (call $fine))
(func (export "rookery:plugin/events@0.1.0#handle") (param i32 i32) (result i32) (call $fine))
