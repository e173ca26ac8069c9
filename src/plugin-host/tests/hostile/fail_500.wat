;; exports: routes
;; Returns a failure of status 500.
(data (i32.const 4096) "\01\00\00\00\00\00\00\00\f4\01\00\00\80\10\00\00\04\00\00\00\90\10\00\00\05\00\00\00")
(data (i32.const 4224) "test")
(data (i32.const 4240) "oh no")
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32) (i32.const 4096))
