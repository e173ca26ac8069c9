-- name: hear   returns: exec
-- params: integer seq, text kind, integer about, text detail
INSERT INTO heard (seq, kind, about, detail) VALUES (:seq, :kind, :about, :detail);
