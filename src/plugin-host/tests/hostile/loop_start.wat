;; exports: routes
;; Never finishes to start: before any function of it is called.
(func $spin (loop $again (br $again)))
(start $spin)
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32) (call $ok))
