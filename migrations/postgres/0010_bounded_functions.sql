-- What plugins' statements may make and search for. PostgreSQL looks at its time limit between rows, and within a
-- function hardly ever: so no single call may take long. The check of plugins' statements writes these names around
-- arguments and results; SQLite has functions of the server's own instead (store::confined::bounded). The numbers are those of
-- store::confined::functions.

-- The value, when it is no larger than a plugin's statement may make one.
CREATE FUNCTION core_v1.bounded(value anyelement) RETURNS anyelement LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    IF pg_column_size(value) > 262144 THEN
        RAISE EXCEPTION 'string or blob too big' USING ERRCODE = '54000';
    END IF;
    RETURN value;
END
$$;

-- A number of so many digits is the product of products: more than any sum of integers has.
CREATE FUNCTION core_v1.bounded_number(value anyelement) RETURNS anyelement LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    IF pg_column_size(value) > 200 THEN
        RAISE EXCEPTION 'number too big' USING ERRCODE = '54000';
    END IF;
    RETURN value;
END
$$;

-- The text, when it is short enough to be searched for.
CREATE FUNCTION core_v1.short(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    IF octet_length(value) > 100 THEN
        RAISE EXCEPTION 'what is searched for is longer than 100 bytes' USING ERRCODE = '22023';
    END IF;
    RETURN value;
END
$$;
