;; exports: routes
;; own memory
;; Has an initial memory of 100 MiB.
(memory (export "memory") 1600)
(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 0))
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32) (unreachable))
