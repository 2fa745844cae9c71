package jsonform_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"unicode/utf8"

	"plexus/domain/nova/jsonform"
)

// FuzzCanonical holds the tokenizer against encoding/json: what it takes is JSON
// and means the same afterwards, and nothing else is not JSON to it.
func FuzzCanonical(f *testing.F) {
	for _, text := range []string{
		sparse, full, `{"b":1,"a":{"d":[true,false,null],"c":"\u00e9\/"}}`, `{"n":[1.0,1e2,-0,0.10,-1.5E+1,1e-7]}`,
		`{"a":1,"\u0061":2,"😀":"\ud83d\ude00"}`, `{"":"\ud83d"}`, `{"a":[],"b":{}, }`, `{"x":[[[{"x":"\u0000\b\f"}]]]} `, `{"a":-}`, `{"a":1e999}`, `{"a":01}`, `{"a":"\u12"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		canonical, err := jsonform.AppendCanonical(nil, jsonform.Read(text))
		valid := utf8.Valid(text) && json.Valid(text)
		if err != nil {
			if valid && (errors.Is(err, jsonform.ErrSyntax) || errors.Is(err, jsonform.ErrUTF8)) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		var before, after any
		if !valid || json.Unmarshal(text, &before) != nil || json.Unmarshal(canonical, &after) != nil || !reflect.DeepEqual(before, after) {
			t.Fatalf("%q became %q", text, canonical)
		}
		if again, err := jsonform.AppendCanonical(nil, jsonform.Read(canonical)); err != nil || string(again) != string(canonical) {
			t.Fatalf("%q is not its own canonical form: %q, %v", canonical, again, err)
		}
	})
}
