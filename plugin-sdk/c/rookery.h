/* The C SDK, in addition to the bindings that `rookery plugin build` generates: growable text, and a minimum of JSON.
 *
 * Include it after the bindings, with PLUGIN_IMPLEMENTATION defined in one file. There is no JSON library here:
 * `json_text` reads one member of a flat object, `text_json` writes a string. Memory is freed by the bindings' `*_free`
 * functions, or not at all: the instance of a route ends with the call. */
#ifndef ROOKERY_H
#define ROOKERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Growable text. `TEXT` is an empty one. */
typedef struct {
    char *bytes;
    size_t length, capacity;
} text_t;

#define TEXT ((text_t){0})

/* Appends bytes. Traps when out of memory, and the host answers the request with an error. */
void text_bytes(text_t *text, const char *bytes, size_t length);
/* Appends a C string. */
void text_add(text_t *text, const char *string);
/* Appends a number in decimal. */
void text_number(text_t *text, int64_t number);
/* Appends a JSON string of these bytes, with its quotes. */
void text_json(text_t *text, const char *bytes, size_t length);

/* The value of a member of a flat JSON object as unescaped text: strings, numbers and booleans. False when it is
 * missing or null. */
bool json_text(const char *json, size_t length, const char *name, text_t *found);
/* Parses a decimal number. False when it is not one, or too large. */
bool parse_number(const char *bytes, size_t length, int64_t *number);
/* Number of characters (Unicode scalar values) in UTF-8 bytes. */
size_t characters(const char *bytes, size_t length);

#ifdef PLUGIN_IMPLEMENTATION

/* The bindings refer to this symbol to link the description of the plugin's world; `rookery plugin build` adds that. */
void __component_type_object_force_link_plugin(void) {}

void text_bytes(text_t *text, const char *bytes, size_t length) {
    if (text->capacity - text->length < length) {
        size_t capacity = text->capacity * 2 + length + 32;
        char *grown = realloc(text->bytes, capacity);
        if (!grown) __builtin_trap();
        text->bytes = grown;
        text->capacity = capacity;
    }
    if (length) memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

void text_add(text_t *text, const char *string) { text_bytes(text, string, strlen(string)); }

void text_number(text_t *text, int64_t number) {
    char digits[20];
    size_t at = sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0) text_add(text, "-");
    text_bytes(text, digits + at, sizeof digits - at);
}

void text_json(text_t *text, const char *bytes, size_t length) {
    static const char hex[] = "0123456789abcdef";
    text_add(text, "\"");
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte == '"' || byte == '\\') {
            text_bytes(text, (char[]){'\\', (char)byte}, 2);
        } else if (byte < 0x20) {
            text_bytes(text, (char[]){'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]}, 6);
        } else {
            text_bytes(text, bytes + i, 1);
        }
    }
    text_add(text, "\"");
}

/* A position in JSON text. */
typedef struct {
    const char *at, *end;
} json_t;

static void json_space(json_t *json) {
    while (json->at < json->end && strchr(" \t\r\n", *json->at) && *json->at) json->at++;
}

static uint32_t json_hex(json_t *json) {
    uint32_t code = 0;
    for (int i = 0; i < 4 && json->at < json->end; i++, json->at++) {
        char c = *json->at;
        code = code * 16 + (uint32_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return code;
}

static void text_character(text_t *text, uint32_t code) {
    char bytes[4];
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; code >>= 6) bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(length == 1 ? code : (0xf00u >> length & 0xf0) | code);
    text_bytes(text, bytes, length);
}

/* Reads a string after its opening quote, up to and including the closing one. */
static void json_string(json_t *json, text_t *text) {
    while (json->at < json->end && *json->at != '"') {
        char c = *json->at++;
        if (c != '\\' || json->at == json->end) {
            text_bytes(text, &c, 1);
            continue;
        }
        c = *json->at++;
        uint32_t code = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'b' ? '\b' : c == 'f' ? '\f' : (uint32_t)c;
        if (c == 'u') {
            code = json_hex(json);
            if (code >= 0xd800 && code < 0xdc00 && json->end - json->at > 6 && json->at[0] == '\\' && json->at[1] == 'u') {
                json->at += 2;
                code = 0x10000 + ((code - 0xd800) << 10) + (json_hex(json) - 0xdc00);
            }
        }
        text_character(text, code);
    }
    if (json->at < json->end) json->at++;
}

/* Skips a value; the text of one that is not nested is written to `text`. */
static bool json_value(json_t *json, text_t *text) {
    json_space(json);
    if (json->at == json->end) return false;
    if (*json->at == '"') {
        json->at++;
        json_string(json, text);
        return true;
    }
    const char *from = json->at;
    for (int depth = 0; json->at < json->end; json->at++) {
        char c = *json->at;
        if (depth == 0 && (c == ',' || c == '}' || c == ']')) break;
        if (c == '{' || c == '[') depth++;
        if (c == '}' || c == ']') depth--;
        if (c == '"') {
            text_t skipped = TEXT;
            json->at++;
            json_string(json, &skipped);
            json->at--;
            free(skipped.bytes);
        }
    }
    size_t length = (size_t)(json->at - from);
    while (length && strchr(" \t\r\n", from[length - 1])) length--;
    if ((length == 4 && memcmp(from, "null", 4) == 0) || *from == '{' || *from == '[') return false;
    text_bytes(text, from, length);
    return true;
}

bool json_text(const char *bytes, size_t length, const char *name, text_t *found) {
    json_t json = {bytes, bytes + length};
    json_space(&json);
    if (json.at == json.end || *json.at++ != '{') return false;
    for (;;) {
        text_t member = TEXT, value = TEXT;
        json_space(&json);
        if (json.at == json.end || *json.at++ != '"') return false;
        json_string(&json, &member);
        json_space(&json);
        if (json.at == json.end || *json.at++ != ':') return false;
        bool plain = json_value(&json, &value);
        bool wanted = member.length == strlen(name) && memcmp(member.bytes, name, member.length) == 0;
        free(member.bytes);
        if (wanted) {
            *found = value;
            return plain;
        }
        free(value.bytes);
        json_space(&json);
        if (json.at == json.end || *json.at++ != ',') return false;
    }
}

bool parse_number(const char *bytes, size_t length, int64_t *number) {
    int64_t sum = 0;
    if (length == 0 || length > 18) return false;
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] < '0' || bytes[i] > '9') return false;
        sum = sum * 10 + (bytes[i] - '0');
    }
    *number = sum;
    return true;
}

size_t characters(const char *bytes, size_t length) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) count += (bytes[i] & 0xc0) != 0x80;
    return count;
}

#endif
#endif
