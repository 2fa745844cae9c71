package framing_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"plexus/domain/framing"
)

// This file is a second decoder of SearchQuery, built on encoding/json, that the
// first is compared with. The library is asked only what it answers rightly: is
// this JSON, where do the parts lie, what does a good string say. Names, types,
// spelling and text are judged here, by other means than the scanner's.

var errOracle = errors.New("refused")

// verdict is what a decoder makes of a payload.
type verdict struct {
	query framing.SearchQuery
	kind  framing.QueryErrorKind // 0: accepted
	value uint32
}

// oracleDepth is how many brackets the library can be asked about.
const oracleDepth = 9_000

// oracle gives the verdict that a payload deserves; it does not answer for
// payloads that are nested deeper than the library goes.
func oracle(payload []byte) (v verdict, answers bool) {
	if bytes.Count(payload, []byte("["))+bytes.Count(payload, []byte("{")) > oracleDepth {
		return verdict{}, false
	}
	refused := verdict{kind: framing.QueryJSON}
	if !json.Valid(payload) {
		return refused, true
	}
	top, err := oracleObject(payload, "v", "query", "context", "opts")
	if err != nil {
		return refused, true
	}
	context, errContext := oracleObject(top["context"], "url", "title", "?selection", "?extract")
	opts, errOpts := oracleObject(top["opts"], "search", "max_results")
	version, errV := oracleUint(top["v"], 8)
	query, errQuery := oracleText(top["query"])
	url, errURL := oracleText(context["url"])
	title, errTitle := oracleText(context["title"])
	selection, errSelection := oracleOptional(context["selection"])
	extract, errExtract := oracleOptional(context["extract"])
	limit, errLimit := oracleUint(opts["max_results"], 32)
	search := string(opts["search"])
	if errors.Join(errContext, errOpts, errV, errQuery, errURL, errTitle, errSelection, errExtract, errLimit) != nil ||
		search != "true" && search != "false" {
		return refused, true
	}

	switch {
	case version != 1:
		return verdict{kind: framing.QueryVersion, value: version}, true
	case query == "":
		return verdict{kind: framing.QueryEmpty}, true
	case limit == 0 || limit > 100:
		return verdict{kind: framing.QueryMaxResults, value: limit}, true
	}
	return verdict{query: framing.SearchQuery{
		Query: query,
		Context: framing.PageContext{
			URL: url, Title: title, Selection: selection, Extract: extract,
			Total: oracleTotal(context["extract_total"]), Kind: oracleKind(context["extract_kind"]),
		},
		Search: search == "true", MaxResults: int(limit),
	}}, true
}

// oracleTotal and oracleKind take what they know, and nothing else as absent.
func oracleTotal(raw []byte) uint64 {
	n, err := strconv.ParseUint(string(raw), 10, 63)
	if err != nil {
		return 0
	}
	return n
}

func oracleKind(raw []byte) framing.ExtractKind {
	switch kind := strings.Trim(string(raw), `"`); kind {
	case "whole", "excerpt", "selection":
		return framing.ExtractKind(kind)
	}
	return ""
}

// oracleObject cuts an object into its known members; a name with a question
// mark may be absent.
func oracleObject(raw []byte, names ...string) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errOracle
	}
	found := map[string]json.RawMessage{}
	for d.More() {
		before := d.InputOffset()
		if _, err := d.Token(); err != nil {
			return nil, err
		}
		name, err := oracleText(bytes.TrimLeft(raw[before:d.InputOffset()], ", \t\r\n"))
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		if _, twice := found[name]; twice && (slices.Contains(names, name) || slices.Contains(names, "?"+name)) {
			return nil, errOracle
		}
		found[name] = value
	}
	for _, name := range names {
		if _, ok := found[name]; !ok && name[0] != '?' {
			return nil, errOracle
		}
	}
	return found, nil
}

var (
	surrogatePair = regexp.MustCompile(`(?i)\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}`)
	surrogate     = regexp.MustCompile(`(?i)\\ud[89a-f][0-9a-f]{2}`)
	digitsOnly    = regexp.MustCompile(`^[0-9]+$`)
)

// oracleText reads a string. What is left of its escapes once the escaped
// backslashes and the surrogate pairs are gone must hold no surrogate.
func oracleText(raw []byte) (string, error) {
	if len(raw) == 0 || raw[0] != '"' || !utf8.Valid(raw) {
		return "", errOracle
	}
	escapes := strings.ReplaceAll(string(raw), `\\`, "__")
	if surrogate.MatchString(surrogatePair.ReplaceAllString(escapes, "__")) {
		return "", errOracle
	}
	var text string
	return text, json.Unmarshal(raw, &text)
}

func oracleOptional(raw []byte) (string, error) {
	if raw == nil || string(raw) == "null" {
		return "", nil
	}
	return oracleText(raw)
}

func oracleUint(raw []byte, bits int) (uint32, error) {
	if !digitsOnly.Match(raw) {
		return 0, errOracle
	}
	n, err := strconv.ParseUint(string(raw), 10, bits)
	return uint32(n), err
}

// ours gives the same verdict by the decoder under test.
func ours(payload []byte) verdict {
	q, err := framing.DecodeSearchQuery(payload)
	var refused *framing.QueryError
	if errors.As(err, &refused) {
		return verdict{query: q, kind: refused.Kind, value: refused.Value}
	}
	return verdict{query: q}
}
