package answers

import (
	"strings"
	"testing"

	"plexus/domain/framing"
)

// Pages of the golden table, written for it.
const (
	bridgePage = `The Alder Bridge crosses the Tenna near Holm.
Menu
Open map
Construction began in 1915 under the engineer Ida Brandt. The bridge opened in 1921. It is 312.5 m long and carries two lanes of road and one tram track.
In 1944 it was damaged by a flood and closed for three years.[2] Dr. Lowe led the repair, which cost about 1.2 million crowns.
Today some 40,000 vehicles cross it each day.`

	libraryPage = `Parsel 2.4
Parsel is a small command line tool that checks configuration files for mistakes.
Install
To install Parsel, download the archive and copy the binary to a folder on your path.
On macOS you can also use the package from the releases page.
Configuration
Parsel reads parsel.toml from the current folder. Set strict = true to turn warnings into errors.
The exit code is 0 when all files are valid, 1 when a file has mistakes, and 2 when a file cannot be read.
License: MIT`

	recipePage = `Lentil soup for four
Rinse 250 g of red lentils. Fry one onion and two carrots in olive oil for 5 minutes.
Add the lentils and one litre of stock, e.g. vegetable stock, and let it simmer for 20 minutes. Season with cumin, salt and lemon juice.
The soup keeps in the fridge for three days, and it can be frozen.`

	policyPage = `Returns and refunds
You can return any item within 30 days of delivery. Items must be unused and in their original packaging.
Refunds are paid to the original payment method within 5 working days after we receive the parcel.
Shipping costs are not refunded. Gift cards cannot be returned.
Questions? Write to help@shop.test.`

	chineseBridge = `青川大桥位于云城东部，横跨青川河。大桥于1958年动工，1961年10月1日建成通车。
全长1280米，桥面宽22米，设四条车道。
总设计师是林秀芝。2003年，大桥进行了加固维修，耗资约三千万元。
如今每天约有五万辆汽车通过。`

	biographyPage = `Home
Log in
Lena Voss was a chemist who did early research on glass. She was born in Lund in 1867, the fifth child of teachers.
She shared the 1903 Medal of Science with her brother. She won the 1911 Medal of Arts. Lena Voss died in 1934, aged 66, of pneumonia.
See also`

	museumPage = `Opening hours
Tuesday to Sunday 10:00–18:00
Closed on Mondays
Tickets
Adults €12, children under 12 free
The museum is at 5 Mill Lane, two minutes from Central Station.
Dogs are not allowed inside. There is a cafe on the ground floor.`

	newsPage = `The city council passed the budget on Tuesday by 31 votes to 20.
"This is a fair plan," said Mayor Ana Ruiz. "It spends more on buses."
The budget of 2.4 billion raises the parking fee to $3 an hour from January 2027. Opponents said the fee would hurt shops.
Councillor B. Novak (Greens) voted against it.
Read more: Ten parks to visit`

	chineseMeeting = `关于召开2026年度工作会议的通知
会议时间：2026年12月5日上午9点。会议地点：三楼大会议室。
请各部门负责人准时参加，并于12月3日前提交书面总结。
联系人：王敏，电话 555-0134。`

	chinesePhone = `这款手机的屏幕为6.7英寸，刷新率120赫兹。电池容量5000毫安时，充电大约需要40分钟。相机在夜间表现一般。售价3999元起，9月20日开售。`

	chineseManual = `如何安装
下载安装包后，双击图标并按照提示完成安装。安装完成后需要重新启动电脑。
常见问题
如果程序无法启动，请检查系统版本是否高于10.15。忘记密码时，可以在登录页面点击“找回密码”。
数据保存在本机，不会上传到服务器。`
)

func TestExtractGolden(t *testing.T) {
	results := []framing.Result{
		{URL: "https://a.test/", Title: "Go release notes", Snippet: "...Go 1.26 was released in February 2026. The garbage collector got faster..."},
		{URL: "https://b.test/", Title: "Go (programming language)", Snippet: "Go was designed at a search company in 2007 by three engineers. …"},
		{URL: "https://c.test/", Title: "Board games", Snippet: "Go is a board game for two players."},
	}
	page := func(title, extract string) framing.PageContext {
		return framing.PageContext{URL: "https://p.test/", Title: title, Extract: extract}
	}
	tests := []struct {
		question string
		page     framing.PageContext
		results  []framing.Result
		want     string // sentences with their marks, one a line
	}{
		{"When did it open?", page("Alder Bridge", bridgePage), nil, "The bridge opened in 1921. [page]"},
		{"How long is the Alder Bridge?", page("Alder Bridge", bridgePage), nil,
			"It is 312.5 m long and carries two lanes of road and one tram track. [page]"},
		{"Who led the repair and what did it cost?", page("Alder Bridge", bridgePage), nil,
			"Dr. Lowe led the repair, which cost about 1.2 million crowns. [page]"},
		{"When did building begin?", page("Alder Bridge", bridgePage), nil,
			"Construction began in 1915 under the engineer Ida Brandt. [page]"},
		{"why was the bridge closed", page("Alder Bridge", bridgePage), nil,
			"In 1944 it was damaged by a flood and closed for three years.[2] [page]"},
		{"What is the population of Peru?", page("Alder Bridge", bridgePage), nil, ""},
		{"How do I install it?", page("Parsel", libraryPage), nil,
			"To install Parsel, download the archive and copy the binary to a folder on your path. [page]"},
		{"what does exit code 2 mean", page("Parsel", libraryPage), nil,
			"The exit code is 0 when all files are valid, 1 when a file has mistakes, and 2 when a file cannot be read. [page]"},
		{"What licence or license does it have?", page("Parsel", libraryPage), nil, "License: MIT [page]"},
		{"What is this page about?", page("Parsel", libraryPage), nil,
			"Parsel is a small command line tool that checks configuration files for mistakes. [page]\n" +
				"To install Parsel, download the archive and copy the binary to a folder on your path. [page]\n" +
				"On macOS you can also use the package from the releases page. [page]"},
		{"How long does the soup keep?", page("Lentil soup", recipePage), nil,
			"The soup keeps in the fridge for three days, and it can be frozen. [page]"},
		{"how many lentils do I need?", page("Lentil soup", recipePage), nil,
			"Rinse 250 g of red lentils. [page]\n" +
				"Add the lentils and one litre of stock, e.g. vegetable stock, and let it simmer for 20 minutes. [page]"},
		{"Are shipping costs refunded?", page("Shop", policyPage), nil, "Shipping costs are not refunded. [page]"},
		{"Can I return gift cards?", page("Shop", policyPage), nil, "Gift cards cannot be returned. [page]"},
		{"the of and with", page("Shop", policyPage), nil, ""},
		{"When was Go 1.26 released?", framing.PageContext{}, results, "Go 1.26 was released in February 2026. [1]"},
		{"Who designed Go?", framing.PageContext{}, results, "Go was designed at a search company in 2007 by three engineers. [2]"},
		{"青川大桥什么时候建成的？", page("青川大桥", chineseBridge), nil, "大桥于1958年动工，1961年10月1日建成通车。 [page]"},
		{"大桥有多长？", page("青川大桥", chineseBridge), nil, "全长1280米，桥面宽22米，设四条车道。 [page]"},
		{"谁是总设计师", page("青川大桥", chineseBridge), nil, "总设计师是林秀芝。 [page]"},
		{"每天有多少汽车通过？", page("青川大桥", chineseBridge), nil, "如今每天约有五万辆汽车通过。 [page]"},
		{"忘记密码怎么办", page("帮助", chineseManual), nil, "忘记密码时，可以在登录页面点击“找回密码”。 [page]"},
		{"我的数据会上传吗？", page("帮助", chineseManual), nil, "数据保存在本机，不会上传到服务器。 [page]"},
		{"Where was she born?", page("Lena Voss", biographyPage), nil,
			"She was born in Lund in 1867, the fifth child of teachers. [page]"},
		{"how old was she when she died", page("Lena Voss", biographyPage), nil, "Lena Voss died in 1934, aged 66, of pneumonia. [page]"},
		{"Which medals did she win?", page("Lena Voss", biographyPage), nil,
			"She won the 1911 Medal of Arts. [page]"},
		{"Who is she?", page("Lena Voss", biographyPage), nil,
			"Lena Voss was a chemist who did early research on glass. [page]\n" +
				"She was born in Lund in 1867, the fifth child of teachers. [page]\n" +
				"She shared the 1903 Medal of Science with her brother. [page]"},
		{"How much is a ticket?", page("City Museum – Visit", museumPage), nil,
			"Tickets [page]\nAdults €12, children under 12 free [page]"},
		{"is it open on monday", page("City Museum – Visit", museumPage), nil,
			"Opening hours [page]\nTuesday to Sunday 10:00–18:00 [page]\nClosed on Mondays [page]"},
		{"Where is the museum?", page("City Museum – Visit", museumPage), nil,
			"The museum is at 5 Mill Lane, two minutes from Central Station. [page]"},
		{"can I bring my dog?", page("City Museum – Visit", museumPage), nil, "Dogs are not allowed inside. [page]"},
		{"How much is the parking fee?", page("Budget vote | City Times", newsPage), nil,
			"The budget of 2.4 billion raises the parking fee to $3 an hour from January 2027. [page]"},
		{"who voted against the budget?", page("Budget vote | City Times", newsPage), nil,
			"Councillor B. Novak (Greens) voted against it. [page]"},
		{"会议在哪里举行？", page("会议通知", chineseMeeting), nil, "会议地点：三楼大会议室。 [page]"},
		{"联系人是谁？", page("会议通知", chineseMeeting), nil, "联系人：王敏，电话 555-0134。 [page]"},
		{"什么时候提交总结？", page("会议通知", chineseMeeting), nil, "请各部门负责人准时参加，并于12月3日前提交书面总结。 [page]"},
		{"电池多大", page("手机评测", chinesePhone), nil, "电池容量5000毫安时，充电大约需要40分钟。 [page]"},
		{"屏幕尺寸是多少？", page("手机评测", chinesePhone), nil, "这款手机的屏幕为6.7英寸，刷新率120赫兹。 [page]"},
		{"充电要多久", page("手机评测", chinesePhone), nil, "电池容量5000毫安时，充电大约需要40分钟。 [page]"},
		{"秘鲁的人口", page("帮助", chineseManual), nil, ""},
		{"总结一下这篇文章", page("青川大桥", chineseBridge), nil,
			"青川大桥位于云城东部，横跨青川河。 [page]\n大桥于1958年动工，1961年10月1日建成通车。 [page]\n全长1280米，桥面宽22米，设四条车道。 [page]"},
	}
	for _, tt := range tests {
		t.Run(tt.question, func(t *testing.T) {
			var lines []string
			for _, s := range Extract(tt.question, tt.page, tt.results) {
				lines = append(lines, s.Text+" "+s.Mark)
			}
			if got := strings.Join(lines, "\n"); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
