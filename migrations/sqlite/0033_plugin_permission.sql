-- The administration of plugins is a permission of its own: roles that had it with that of settings keep it.

UPDATE roles SET permissions = permissions | 268435456 WHERE (permissions & 64) <> 0;
