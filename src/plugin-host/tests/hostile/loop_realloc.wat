;; exports: routes
;; own memory
;; Loops forever in `cabi_realloc`, which the host calls to pass a request.
(memory (export "memory") 1)
(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (loop $again (br $again)) (i32.const 0))
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32) (i32.const 0))
