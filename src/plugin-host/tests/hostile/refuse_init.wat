;; exports: lifecycle
;; Refuses in `init`, with a message of two lines.
(data (i32.const 4096) "\01\00\00\00\10\10\00\00\0d\00\00\00")
(data (i32.const 4112) "no\nconfigured")
(func (export "rookery:plugin/lifecycle@0.1.0#init")
  (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i32 i32) (result i32) (i32.const 4096))
(func (export "rookery:plugin/lifecycle@0.1.0#self-test") (result i32) (i32.const 4096))
