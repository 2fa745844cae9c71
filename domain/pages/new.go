package pages

import (
	"strings"

	"plexus/domain/framing"
	"plexus/domain/text"
)

// New makes the page that a question's context describes, within the bounds of
// this package. The text is the selection, unless the extract
// holds it, then the extract. It is false when
// there is nothing to keep: no canonical URL (a private page sends none), or
// neither title nor text.
func New(ctx framing.PageContext, origin string) (Page, bool) {
	canonical, ok := CanonicalURL(ctx.URL)
	if !ok {
		return Page{}, false
	}
	selection := strings.TrimSpace(storable(ctx.Selection))
	content := strings.TrimSpace(storable(ctx.Extract))
	if selection != "" && !strings.Contains(content, selection) {
		content = strings.TrimSuffix(selection+"\n"+content, "\n")
	}
	page := Page{
		URL:    canonical,
		Title:  text.TruncateRunes(strings.Join(strings.Fields(storable(ctx.Title)), " "), MaxTitle),
		Text:   text.Truncate(content, MaxTextBytes),
		Origin: origin,
	}
	return page, page.Title != "" || page.Text != ""
}

// storable makes valid UTF-8 and replaces NUL characters, which would end the text
// early for some readers of the index.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", " ")
}
