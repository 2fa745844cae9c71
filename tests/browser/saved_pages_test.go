package browser

import (
	"fmt"
	"strings"
)

// savedPage is a page of testdata/pages, or one that is made, and what is in it.
type savedPage struct {
	path     string   // below testdata/pages; with make, only its address
	kind     string   // media type, where the name does not tell it
	make     string   // the text of the page, where it is made
	finds    []string // stand in the text that is read, each as it is
	never    []string // do not
	question string   // "" for one of the page without words in common
	uses     string   // stands in what is sent with the question
	panel    string   // stands in the panel's lines about the page
}

// savedPages are pages of the kinds that people ask about.
func savedPages() []savedPage {
	return append(madePages(),
		savedPage{path: "news.html", question: "What does a crossing cost?", uses: "A single crossing is 4.50 crowns.",
			finds: []string{"Ferry returns to the sound\nBy Ann Clerk\n", "the ferry Lonely Gull sails", "What it costs\nA single", "Corrected on Tuesday"},
			never: []string{"Sports", "newsletter", "Most read", "Imprint", "cookies", "Share", "Harbour Post"}},
		savedPage{path: "docs.html", question: "What is the default pause?", uses: "250 ms",
			finds: []string{"\ndef fetch(url):\n    for attempt in courier.retry(times=3):\n        with attempt:\n            return get(url)\n", "pause 250 milliseconds", "import courier\n\ndef"}, never: []string{"Install"}},
		savedPage{path: "forum.html", question: "How do I stop the squeaking?", uses: "Sand the pads",
			finds: []string{"My brakes squeak", "oldcyclist", "toe them in", "Toeing in worked"}, never: []string{"Like", "Board index", "Powered"}},
		savedPage{path: "shop.html", question: "How much does it hold?", uses: "Capacity 1.7 l",
			finds: []string{"€49.90", "Power 2200 W", "Guarantee: five years."}, never: []string{"spoken", "Blue", "Add to basket"}},
		savedPage{path: "spa.html", question: "When is the gate due?", uses: "14th of March", finds: []string{"Backlog\nWrite the invitation", "Order forty chairs"}, never: []string{"Loading", "scripts", "createElement"}},
		savedPage{path: "components.html", question: "How high is the tower?", uses: "31 metres",
			finds: []string{"The lighthouse\nThe tower is 31 metres high.\nIt was lit in 1871.\nNobody lives there now.", "Its lamp turns every nine seconds."}, never: []string{"secret", "color:red"}},
		savedPage{path: "declarative.html", question: "When did it open?", uses: "May 1889", finds: []string{"Tower\nThe tower opened in May 1889.\nTwo lifts go up."}},
		savedPage{path: "dialog.html", question: "When did it open?", uses: "May 1889", finds: []string{"Tower\nThe tower opened in May 1889."}},
		savedPage{path: "reader.html", question: "How old is the pear tree?", uses: "grafted in 1804", finds: []string{"Three posts", "The orchard\nThe oldest", "the snow pear."}},
		savedPage{path: "iframe.html", question: "When is the last boat?", uses: "21:40",
			finds: []string{"Timetable\nThe first boat leaves at 6:05.\nOn Sundays at 7:30.\nThe last boat leaves at 21:40.\nBehind the frames."}, never: []string{"secret"}},
		savedPage{path: "foreign.html", question: "Who shows prices?", uses: "Our partner", finds: []string{"Our partner shows the prices:"}, never: []string{"boat"}, panel: "A frame of another site is left out."},
		savedPage{path: "onlyforeign.html", panel: "the text is in a frame of another site"},
		savedPage{path: "frameset.html", question: "Which way does the valve turn?", uses: "a quarter to the left", finds: []string{"The first boat leaves at 6:05.\nOn Sundays at 7:30.\nChapter 4\nTurn the valve"}},
		savedPage{path: "chinese.html", question: "大桥是什么时候通车的？", uses: "一九三一年建成通车", finds: []string{"江边大桥\n江边大桥全长五百零三米"}},
		savedPage{path: "japanese.html", question: "灯台はいつ点灯しましたか", uses: "灯台は1871年に点灯しました。", finds: []string{"三十一メートル"}, never: []string{"とうだい"}},
		savedPage{path: "arabic.html", question: "متى افتتح الجسر؟", uses: "افتتح الجسر عام 1931", finds: []string{"503 أمتار"}},
		savedPage{path: "german.html", question: "Wann wurde die Brücke eröffnet?", uses: "1931 eröffnet.", finds: []string{"Über sie führen zwei Gleise."}},
		savedPage{path: "code.html", question: "What does f return?", uses: "        return 1\n\n    return 2",
			finds: []string{"def f(x):\n    if x:\n        return 1\n\n    return 2\n", "class A:\n    pass", "10   go func() {\n11   }()"}},
		savedPage{path: "app.xhtml", kind: "application/xhtml+xml", question: "How many sails has the mill?", uses: "four sails", finds: []string{"Strict page\nServed as application/xhtml+xml.", "Kept as it is."}, never: []string{"code", "Contents"}},
		savedPage{path: "wiki.html", question: "How long is the salt road?", uses: "112 km long.[1]", finds: []string{"in 1289 [2], though some say [page] 40", "Survey of roads [1]"}},
		savedPage{path: "clobbered.html", question: "When are eggs fetched?", uses: "at noon", finds: []string{"The form asks for the number of the hen house.\nEggs are fetched at noon."}},
		savedPage{path: "hidden.html", question: "What do the prices say?", uses: "Two crowns.",
			finds: []string{"The shown sentence.\nbut this is seen\nOpening hours\nPrices\nTwo crowns.\nSeen through a box that is none.\nFar below, and there."}, never: []string{"secret"}},
		savedPage{path: "editor.html", question: "When is the roof mended?", uses: "in June", finds: []string{"Minutes of the meeting\nThe roof is mended in June."}, never: []string{"draft"}},
		savedPage{path: "bigfield.html", question: "How many volts?", uses: "12 volts", finds: []string{"first line\n    second line, indented\nThe pump", "The licence key"}, never: []string{"draft"}},
		savedPage{path: "table.html", question: "When is low tide on day 2?", uses: "2 05:02 11:18", finds: []string{"Tides in May\nDay High Low\n1 04:10 10:25\n"}},
		savedPage{path: "faq.html", question: "May I bring a dog?", uses: "on a lead", finds: []string{"May I bring a dog?\nYes, on a lead.\nIs there parking?", "stay valid until Easter"}, never: []string{"secret", "Contact us"}},
		savedPage{path: "icons.html", question: "What does the wind do?", uses: "North wind", finds: []string{"Back to the garden\nFind a rose\nNorth wind"}, never: []string{"arrow", "secret", "\ue8b6"}},
		savedPage{path: "layout.html", question: "When is honey taken?", uses: "in July", finds: []string{"Club of the bees\nHoney is taken in July.\nThe hives stand\nbehind the barn.\nNo box\naround this.\nHives 14"}},
		savedPage{path: "embedpdf.html", panel: "A PDF: only its title and address are sent."},
		savedPage{path: "canvas.html", panel: "there is no text here"},
	)
}

// madePages are the large ones, and those that are no HTML.
func madePages() []savedPage {
	words := strings.Fields("river valley stone market winter summer train road school harbour light colour music paper lantern")
	var article, log strings.Builder
	article.WriteString("<!doctype html><html lang=en><meta charset=utf-8><title>A long report</title><nav>Contents</nav><main>")
	for i := range 360 {
		if i%20 == 0 {
			fmt.Fprintf(&article, "<h2>Section %d</h2>", i/20)
		}
		article.WriteString("<p>")
		for j := range 90 {
			article.WriteString(words[(i*31+j*(7+i%5))%len(words)] + " ")
		}
		article.WriteString("</p>")
		if i == 247 {
			article.WriteString("<p>The dam was finished in 1962.</p>")
		}
	}
	article.WriteString("<p>Here the report ends.</p></main>")
	for i := range 3000 {
		fmt.Fprintf(&log, "2026-11-30T12:%02d:%02d INFO  worker %4d: nothing to do\n", i/60%60, i%60, i)
		if i == 1777 {
			log.WriteString("2026-11-30T12:29:37 ERROR disk /dev/sdb is full\n    at writeBlock (store.c:88)\n")
		}
	}
	deep := strings.Repeat("<div>", 1500) + "<p>At the bottom of the well.</p>"
	many := "<!doctype html><title>Many</title><main><p>The first of many.</p>" + strings.Repeat("<p><b>x</b><i> y</i></p>", 60_000)
	return []savedPage{
		{path: "made/article", kind: "text/html", make: article.String(), question: "When was the dam finished?", uses: "The dam was finished in 1962.",
			finds: []string{"Section 0\n", "Section 17\n", "Here the report ends."}, never: []string{"Contents"}, panel: "KB used"},
		{path: "made/log", kind: "text/plain", make: log.String(), question: "Why is the disk full?", uses: "ERROR disk /dev/sdb is full\n    at writeBlock (store.c:88)\n",
			finds: []string{"worker    0: nothing to do\n2026", "worker 2999: nothing"}, panel: "KB used"},
		{path: "made/data.json", kind: "application/json", make: `{"harbour": {"depth": "14 metres"}}`, question: "What is the depth of the harbour?", uses: "14 metres", finds: []string{`"harbour"`}},
		{path: "made/deep", kind: "text/html", make: "<!doctype html><title>Deep</title>" + deep, question: "What is at the bottom?", uses: "of the well", finds: []string{"At the bottom of the well."}},
		{path: "made/many", kind: "text/html", make: many, question: "What is the first of many?", uses: "The first of many.", finds: []string{"The first of many.\nx y\nx y\n"}},
		{path: "made/chart", kind: "image/svg+xml", make: `<svg xmlns="http://www.w3.org/2000/svg"><title>A chart</title><text y="20">Rain in May</text></svg>`, question: "When does it rain?", uses: "Rain in May", finds: []string{"Rain in May"}},
		{path: "made/picture", kind: "image/bmp", make: "BM:\x00\x00\x00\x00\x00\x00\x006\x00\x00\x00(\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x18\x00" + strings.Repeat("\x00", 28), panel: "A picture"},
	}
}
