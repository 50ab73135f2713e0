package emulator

import (
	"cmp"
	"slices"
)

// What people use. Names are those of a real organization: servers whose spelling differs by case, a tool whose name
// is malformed.
var (
	models    = []string{"model-standard", "model-code", "model-mini", "model-thinking"}
	languages = []string{"Go", "TypeScript", "Python", "HCL"}
	levels    = []string{"auto-high", "auto-medium", "auto-low", "spec", "manual"}

	modelTiers = map[string]string{"model-standard": "standard", "model-code": "standard", "model-mini": "standard", "model-thinking": "thinking"}
	extensions = map[any]string{"Go": "go", "TypeScript": "ts", "Python": "py", "HCL": "tf"}
	hooks      = map[any][2]string{"PreToolUse": {"Execute", "./check.sh"}, "Stop": {"", "./notify.sh"}} // By event: matcher and command.
)

// measure is what a person does on a day, from low to high times for each item. Below 0 is not at all.
type measure struct {
	low, high int64
	items     []string
}

// one is the item of a measure that has none.
var one = []string{""}

// measures are all numbers of all endpoints, most of them by the name of their field; a day's is the sum over persons.
var measures = map[string]measure{
	"billable_tokens":    {5_000, 500_000, models},
	"input_tokens":       {20_000, 900_000, models},
	"output_tokens":      {1_000, 60_000, models},
	"cache_read_tokens":  {10_000, 500_000, models},
	"cache_write_tokens": {1_000, 50_000, models},
	"tool_calls":         {1, 60, []string{"Execute", "Read", "Edit", "Search", "fetch_url\n"}},
	"mcp_calls":          {-2, 4, []string{"tracker", "Tracker", "docs"}},
	"skill_calls":        {-1, 2, []string{"code-review", "release-notes"}},
	"slash_commands":     {-1, 3, []string{"compact", "review"}},
	"hooks":              {-5, 10, []string{"PreToolUse", "Stop"}},
	"daily_active_users": {0, 1, []string{"terminal-ui", "web", "non-interactive-cli"}},
	"files_created":      {-1, 2, languages},
	"files_edited":       {-4, 9, languages},
	"git_commits":        {0, 6, one},
	"git_prs_created":    {0, 2, one},
	"sessions":           {1, 8, one},
	"user_messages":      {1, 48, one},
	"assistant_messages": {1, 160, one},
	"level":              {0, 4, one}, // An index of levels.
}

// day is what somebody did on a day, or what everybody did.
type day struct {
	date      string
	people    []person
	workforce *workforce
	e         *Emulator
}

// alone is a person's part of a day.
func (d *day) alone(p person) *day { return &day{d.date, []person{p}, d.workforce, d.e} }

// of sums a measure over items. The same person and date lead to the same numbers.
func (d *day) of(name string, items ...string) int64 {
	m, sum := measures[name], int64(0)
	if items == nil {
		items = m.items
	}
	for _, p := range d.people {
		for _, item := range items {
			sum += max(0, newSeed(p.address).of(d.date).of(name).of(item).between(m.low, m.high))
		}
	}
	return sum
}

// row has measures of a day.
func (d *day) row(row values, names ...string) values {
	for _, name := range names {
		row[name] = d.of(name)
	}
	return row
}

// counted lists the items of which measures have some.
func (d *day) counted(itemField, countField string, names ...string) []values {
	list := []values{}
	for _, item := range measures[names[0]].items {
		var n int64
		for _, name := range names {
			n += d.of(name, item)
		}
		if n > 0 {
			list = append(list, values{itemField: item, countField: n})
		}
	}
	return arrange(d.e, list)
}

// grouped has a row for each item of the first of some measures.
func (d *day) grouped(names ...string) []values {
	rows := []values{}
	for _, item := range measures[names[0]].items {
		row := values{"date": d.date, "group_key": item}
		for _, name := range names {
			row[name] = d.of(name, item)
		}
		if row[names[0]] != int64(0) {
			rows = append(rows, row)
		}
	}
	return arrange(d.e, rows)
}

// users counts the people of a day with a measure.
func (d *day) users(name string, items ...string) (n int) {
	for _, p := range d.people {
		if d.alone(p).of(name, items...) > 0 {
			n++
		}
	}
	return n
}

func (d *day) byModel() []values {
	list := []values{}
	for _, row := range d.grouped("billable_tokens", "input_tokens", "output_tokens") {
		id := row["group_key"].(string)
		delete(row, "date")
		delete(row, "group_key")
		row["model_id"], row["model_tier"] = id, modelTiers[id]
		list = append(list, row)
	}
	return list
}

func tokensRow(d *day) values {
	byUser := []values{}
	for _, p := range d.people {
		u := d.alone(p)
		byUser = append(byUser, values{"user_id": p.id, "user_email": p.email, "billable_tokens": u.of("billable_tokens"), "by_model": u.byModel()})
	}
	return d.row(values{"date": d.date, "by_model": d.byModel(), "by_user": arrange(d.e, byUser)},
		"billable_tokens", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
}

// toolsRow invents the percentiles and the autonomy levels from an average.
func toolsRow(d *day) values {
	hookList := d.counted("event", "count", "hooks")
	for _, h := range hookList {
		h["matcher"], h["command"] = hooks[h["event"]][0], hooks[h["event"]][1]
	}
	average := ratio(d.of("tool_calls"), d.of("user_messages"))
	high := newSeed(d.date).between(30, 60)
	return d.row(values{
		"date": d.date, "by_tool": d.counted("tool", "invocations", "tool_calls"),
		"mcp_users_with_mcp": d.users("mcp_calls"), "mcp_by_server": d.counted("server", "invocations", "mcp_calls"),
		"skills_invocations": d.of("skill_calls"), "skills_by_name": d.counted("name", "count", "skill_calls"),
		"slash_commands_invocations": d.of("slash_commands"), "slash_commands_by_name": d.counted("name", "count", "slash_commands"),
		"hooks_invocations": d.of("hooks"), "hooks_by_event": hookList, "web_users": d.users("daily_active_users", "web"),
		"autonomy_ratio_avg": average, "autonomy_ratio_p50": average / 2, "autonomy_ratio_p90": average * 2,
		"tool_calls_per_session_avg": ratio(d.of("tool_calls"), d.of("sessions")), "user_turns_per_session_avg": ratio(d.of("user_messages"), d.of("sessions")),
		"tool_autonomy_level_ratio": values{"auto_high": ratio(high, 100), "auto_medium": 0.25, "auto_low": 0.125, "manual": ratio(625-10*high, 1000)},
	}, "tool_calls")
}

func ratio(part, whole int64) float64 { return float64(part) / float64(whole) }

// activityRow counts a person once for each of their clients. Unused clients have 0.
func activityRow(d *day) values {
	clients := values{}
	for _, name := range measures["daily_active_users"].items {
		clients[name] = d.of("daily_active_users", name)
	}
	return d.row(values{
		"date": d.date, "daily_active_users": len(d.people), "weekly_active_users": d.workforce.activeUntil(d.date, 7),
		"monthly_active_users": d.workforce.activeUntil(d.date, 30), "daily_active_users_by_client": clients,
		"messages": d.of("user_messages") + d.of("assistant_messages"),
	}, "sessions", "user_messages")
}

func productivityRow(d *day) values {
	byExtension := d.counted("extension", "count", "files_created", "files_edited")
	for _, kind := range byExtension {
		kind["extension"] = extensions[kind["extension"]]
	}
	return d.row(values{"date": d.date, "by_extension": byExtension, "by_language": d.counted("language", "count", "files_created", "files_edited")},
		"files_created", "files_edited", "git_commits", "git_prs_created")
}

// usersRow is the row of /users for the only person of a day. The primary model is the one that cost most.
func usersRow(d *day) values {
	p := d.people[0]
	primary := slices.MaxFunc(models, func(a, b string) int { return cmp.Compare(d.of("billable_tokens", a), d.of("billable_tokens", b)) })
	used := []any{}
	for _, l := range d.counted("language", "count", "files_created", "files_edited") {
		used = append(used, l["language"])
	}
	return d.row(values{
		"user_id": p.id, "user_email": p.email, "date": d.date, "primary_model": primary, "primary_model_tier": modelTiers[primary],
		"messages": d.of("user_messages") + d.of("assistant_messages"), "autonomy_ratio": ratio(d.of("tool_calls"), d.of("user_messages")),
		"delegation_level": levels[d.of("level")], "languages": used,
	}, "tool_calls", "billable_tokens", "files_created", "files_edited", "git_commits", "git_prs_created", "mcp_calls", "skill_calls",
		"slash_commands", "hooks", "sessions", "user_messages", "assistant_messages")
}

// myCostRow is the row of a query key for the only person of a day. The API shows the fields of headline_daily only; those
// of the others are invented, with values of every kind that a client must accept.
func myCostRow(key string, d *day) values {
	row := values{"date": d.date, "fsc": d.of("billable_tokens")}
	if key != "headline_daily" {
		row["title"], row["models"] = nil, models
		row["tokens"] = d.row(values{}, "input_tokens", "output_tokens")
	}
	return row
}

// seed is a hash that generates numbers: the same names lead to the same numbers, in this and every later version.
type seed uint64

// newSeed hashes a name with FNV-1a.
func newSeed(name string) seed { return seed(14695981039346656037).of(name) }

// of continues the hash with a name.
func (s seed) of(name string) seed {
	for i := range len(name) {
		s = (s ^ seed(name[i])) * 1099511628211
	}
	return (s ^ 0xff) * 1099511628211 // It ends the name: no byte of UTF-8 is 0xff.
}

// between returns a number from low to high. The last bits of the hash alone are not random enough.
func (s seed) between(low, high int64) int64 {
	n := uint64(s)
	n = (n ^ n>>33) * 0xff51afd7ed558ccd
	n = (n ^ n>>33) * 0xc4ceb9fe1a85ec53
	n ^= n >> 33
	return low + int64(n%uint64(high-low+1)) //nolint:gosec // The remainder is at most high-low.
}
