/* {{title}}.
 *
 * `query` runs a statement of sql/queries.sql by its name and gives the values of all rows in one array. Ids are numbers
 * here and decimal strings in JSON. A failure becomes the answer. Nothing is freed: the instance of a route ends with
 * the call. */
#include "plugin.h"
#define PLUGIN_IMPLEMENTATION
#include "rookery.h"

typedef exports_rookery_plugin_routes_request_t request_t;
typedef exports_rookery_plugin_routes_response_t response_t;
typedef rookery_plugin_types_failure_t failure_t;
typedef rookery_plugin_sql_value_t value_t;
typedef rookery_plugin_sql_rows_t rows_t;

static plugin_string_t string(const char *bytes) {
    plugin_string_t made;
    plugin_string_dup(&made, bytes);
    return made;
}

static bool is(plugin_string_t left, const char *right) {
    return left.len == strlen(right) && memcmp(left.ptr, right, left.len) == 0;
}

static bool fail(failure_t *failure, uint16_t status, const char *message) {
    *failure = (failure_t){.status = status, .code = string(""), .message = string(message)};
    return false;
}

static value_t integer(int64_t number) {
    return (value_t){.tag = ROOKERY_PLUGIN_SQL_VALUE_INTEGER, .val.integer = number};
}

static value_t words(text_t text) {
    return (value_t){.tag = ROOKERY_PLUGIN_SQL_VALUE_TEXT, .val.text = {(uint8_t *)text.bytes, text.length}};
}

static bool query(const char *statement, value_t *values, size_t count, rows_t *rows, failure_t *failure) {
    plugin_string_t name = string(statement);
    rookery_plugin_sql_list_value_t params = {values, count};
    if (!rookery_plugin_sql_query(&name, &params, rows, failure)) return false;
    return !rows->truncated || fail(failure, 500, "There are more rows than may be read at once");
}

/* A row of id and text. */
static void item(text_t *json, const value_t *row) {
    text_add(json, "{\"id\":\"");
    text_number(json, row[0].val.integer);
    text_add(json, "\",\"text\":");
    text_json(json, (const char *)row[1].val.text.ptr, row[1].val.text.len);
    text_add(json, "}");
}

static bool answer(response_t *response, text_t json) {
    *response = (response_t){.status = 200};
    response->output.tag = EXPORTS_ROOKERY_PLUGIN_ROUTES_OUTPUT_JSON;
    response->output.val.json = (plugin_string_t){(uint8_t *)json.bytes, json.length};
    return true;
}

/* GET /api/v1/{{name}} */
static bool index_items(int64_t caller, response_t *response, failure_t *failure) {
    rows_t rows;
    text_t json = TEXT;
    if (!query("items_of", (value_t[]){integer(caller)}, 1, &rows, failure)) return false;
    text_add(&json, "[");
    for (size_t i = 0; i + 1 < rows.values.len; i += 2) {
        if (i) text_add(&json, ",");
        item(&json, rows.values.ptr + i);
    }
    text_add(&json, "]");
    return answer(response, json);
}

/* The parameter `name` of a form or of JSON. */
static bool parameter(const request_t *request, const char *name, text_t *text) {
    const exports_rookery_plugin_routes_body_t *body = &request->body;
    if (body->tag == EXPORTS_ROOKERY_PLUGIN_ROUTES_BODY_JSON) {
        return json_text((const char *)body->val.json.ptr, body->val.json.len, name, text);
    }
    if (body->tag != EXPORTS_ROOKERY_PLUGIN_ROUTES_BODY_FORM) return false;
    for (size_t i = 0; i < body->val.form.len; i++) {
        plugin_tuple2_string_string_t *pair = body->val.form.ptr + i;
        if (!is(pair->f0, name)) continue;
        text_bytes(text, (const char *)pair->f1.ptr, pair->f1.len);
        return true;
    }
    return false;
}

/* POST /api/v1/{{name}} */
static bool create(const request_t *request, int64_t caller, response_t *response, failure_t *failure) {
    rows_t rows;
    text_t text = TEXT, json = TEXT;
    if (!parameter(request, "text", &text)) return fail(failure, 422, "text: is missing");
    if (text.length == 0) return fail(failure, 422, "text: is empty");
    if (!query("add", (value_t[]){integer(caller), words(text)}, 2, &rows, failure)) return false;
    item(&json, rows.values.ptr);
    return answer(response, json);
}

bool exports_rookery_plugin_routes_handle(request_t *request, response_t *response, failure_t *failure) {
    int64_t caller = request->ctx.caller.account.val;
    if (is(request->route, "index")) return index_items(caller, response, failure);
    if (is(request->route, "create")) return create(request, caller, response, failure);
    return fail(failure, 404, "Record not found");
}
