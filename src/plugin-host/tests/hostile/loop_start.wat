;; exports: routes
;; Loops forever in the start function, before any export is called.
(func $spin (loop $again (br $again)))
(start $spin)
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32) (call $ok))
