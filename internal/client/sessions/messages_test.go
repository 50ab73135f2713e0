package sessions

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
)

// messageRecord encodes a message from "id role text", where the text "tool" is a use of a tool.
func messageRecord(text string, at int) string {
	var id, role, said string
	_, _ = fmt.Sscan(text, &id, &role, &said)
	block := fmt.Sprintf(`{"type":"text","text":%q}`, said)
	more := ""
	if role == "llm_only" {
		role, more = RoleUser, `,"visibility":"llm_only"`
	}
	if said == "tool" {
		block = `{"type":"tool_use","id":"t","name":"n","input":{}}`
	}
	return fmt.Sprintf(`{"id":%q,"role":%q,"content":[%s],"createdAt":%d,"new":1%s}`, id, role, block, at, more)
}

func idsOf(messages []Message) string {
	ids := make([]string, len(messages))
	for i := range messages {
		ids[i] = messages[i].ID
	}
	return strings.Join(ids, " ")
}

// pagesByCursor serves pages by the cursor of the request.
func pagesByCursor(pages map[string][]string, next map[string]string) clienttest.Handler {
	return func(w http.ResponseWriter, r *http.Request, _ int) {
		cursor := r.URL.Query().Get("cursor")
		clienttest.Say(w, clienttest.PageOf("messages", next[cursor], pages[cursor]))
	}
}

// Messages are complete and the newest are last, in whatever order a page has them.
func TestMessages(t *testing.T) {
	t.Parallel()
	newest := []string{messageRecord("m6 assistant x", 6), messageRecord("m5 system x", 5), messageRecord("m4 user x", 4)}
	older := []string{messageRecord("m3 tool x", 3), messageRecord("m2 assistant x", 2), messageRecord("m1 user x", 1)}
	for name, tc := range map[string]struct {
		roles []string
		most  int
		want  string
		query string // The query of the first page.
	}{
		"all":               {nil, 0, "m1 m2 m3 m4 m5 m6", "limit=100"},
		"newest":            {nil, 2, "m5 m6", "limit=2"},
		"newest of pages":   {nil, 4, "m3 m4 m5 m6", "limit=4"},
		"one role":          {[]string{RoleUser}, 1, "m4", "limit=1&role=user"},
		"several roles":     {[]string{RoleUser, RoleTool}, 2, "m3 m4", "limit=100"},
		"role of no filter": {[]string{RoleSystem}, 1, "m5", "limit=100"},
	} {
		for order, arrange := range map[string]func([]string) []string{
			"newest first": slices.Clone[[]string],
			"oldest first": func(page []string) []string { page = slices.Clone(page); slices.Reverse(page); return page },
		} {
			c, rec, _ := area.Serve(t, pagesByCursor(map[string][]string{"": arrange(newest), "c": arrange(older)}, map[string]string{"": "c"}))
			got, err := c.Messages(t.Context(), "s 1/..", tc.roles, tc.most)
			if err != nil || idsOf(got) != tc.want {
				t.Errorf("%s, %s: got %s, %v, want %s", name, order, idsOf(got), err, tc.want)
			}
			if first := rec.Requests[0]; first.URL.RawQuery != tc.query || first.URL.EscapedPath() != "/api/v0/sessions/s%201%2F../messages" {
				t.Errorf("%s: sent %s", name, first.URL)
			}
		}
	}
}

// Messages of the same time have the order of their numbers, or the reverse order of the service.
func TestMessages_sameTime(t *testing.T) {
	t.Parallel()
	numbered := func(id string, seq int) string {
		return strings.Replace(messageRecord(id+" user x", 1), `"new":1`, fmt.Sprintf(`"seq":%d`, seq), 1)
	}
	for want, page := range map[string][]string{
		"a b c": {numbered("b", 2), numbered("c", 3), numbered("a", 1)},
		"c b a": {messageRecord("a user x", 1), messageRecord("b user x", 1), messageRecord("c user x", 1)},
	} {
		c, _, _ := area.Serve(t, pagesByCursor(map[string][]string{"": page}, nil))
		if got, err := c.Messages(t.Context(), "s1", nil, 0); err != nil || idsOf(got) != want {
			t.Errorf("got %s, %v, want %s", idsOf(got), err, want)
		}
	}
}

func TestMessages_withoutARole(t *testing.T) {
	t.Parallel()
	c, _, _ := area.Serve(t, pagesByCursor(map[string][]string{"": {`{"id":"a"}`}}, nil))
	_, err := c.Messages(t.Context(), "s1", nil, 0)
	check.Fails(t, err, "the field role is missing")
}

func TestMessage_Text(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		`[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]`: "a\nb",
		`[{"type":"thinking","thinking":"x"}]`:                                     "",
		`"plain"`:                                                                  "plain",
		`null`:                                                                     "",
		`{"type":"text"}`:                                                          "",
	} {
		check.Is(t, content, (&Message{Content: []byte(content)}).Text(), want)
	}
}

// An answer is the last message of the agent between the sent one and the next one of a user, unless the agent waits for a tool.
func TestTurn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pages []string // Messages of each page, newest first.
		want  string
		reads int
	}{
		"answered":             {[]string{"a2 assistant x; m user x"}, "a2", 1},
		"not listed":           {[]string{"a1 assistant x; old user x", "older user x"}, "not listed", 2},
		"nothing yet":          {[]string{"m user x; a1 assistant x"}, "", 1},
		"uses a tool":          {[]string{"a2 assistant tool; m user x"}, "", 1},
		"waits for the agent":  {[]string{"r tool x; a2 assistant tool; m user x"}, "", 1},
		"text, then a tool":    {[]string{"r tool x; a3 assistant tool; a2 assistant x; m user x"}, "", 1},
		"several":              {[]string{"a3 assistant x; r tool x; a2 assistant tool; m user x"}, "a3", 1},
		"another message":      {[]string{"m2 user x; n system x; a2 assistant x; m user x"}, "a2", 1},
		"another answer":       {[]string{"a3 assistant x; m2 user x; a2 assistant x; m user x"}, "a2 later", 1},
		"added by the service": {[]string{"a2 assistant x; n llm_only x; m user x; n2 llm_only x; a1 assistant x"}, "a2", 1},
		"unanswered":           {[]string{"m2 user x; r tool x; a2 assistant tool; m user x"}, "", 1},
		"interrupted":          {[]string{"a3 assistant x; m2 user x; r tool x; a2 assistant tool; m user x"}, " later", 1},
		"sent in parallel":     {[]string{"a3 assistant x; a2 assistant x; m2 user x; m user x"}, " later", 1},
		"on several pages":     {[]string{"a3 assistant x", "r tool x; a2 assistant tool", "m user x", "a1 assistant x"}, "a3", 3},
		"listed twice":         {[]string{"a3 assistant x; m user x", "m user x; a1 assistant x"}, "a3", 1},
	} {
		pages, next := map[string][]string{}, map[string]string{}
		at := 1_000_000
		for i, page := range tc.pages {
			cursor := map[bool]string{true: "", false: fmt.Sprint("c", i)}[i == 0]
			for text := range strings.SplitSeq(page, "; ") {
				at--
				pages[cursor] = append(pages[cursor], messageRecord(text, at))
			}
			if i < len(tc.pages)-1 {
				next[cursor] = fmt.Sprint("c", i+1)
			}
		}
		c, rec, _ := area.Serve(t, pagesByCursor(pages, next))
		got, err := c.Turn(t.Context(), "s1", "m")
		said := map[bool]string{false: "not listed"}[got.IsListed]
		if got.Answer != nil {
			said += got.Answer.ID
		}
		said += map[bool]string{true: " later"}[got.IsAnsweredLater]
		if err != nil || said != tc.want || len(rec.Requests) != tc.reads || rec.Requests[0].URL.RawQuery != "limit=20" {
			t.Errorf("%s: got %q after %d pages, %v", name, said, len(rec.Requests), err)
		}
	}
}

func TestSend(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.Method == http.MethodGet {
			clienttest.Say(w, `200 {"providers":[]}`)
			return
		}
		clienttest.Say(w, `200 {"messageId":"m1","status":"pending","recipientAgentStatus":"idle","new":1}`)
	})
	got, err := c.Send(t.Context(), "s1", MessageRequest{Text: "Hi", Files: []Attachment{{Type: "text", MediaType: "text/plain", Data: "d", Name: "n"}}})
	if err != nil || got.ID != "m1" || got.Role != RoleUser {
		t.Errorf("%+v, %v", got, err)
	}
	check.Is(t, "sent", rec.Bodies[1], `{"text":"Hi","files":[{"type":"text","mediaType":"text/plain","data":"d","name":"n"}]}`)
}
