package emulator

import (
	"math"
	"slices"
)

// day is a day on which somebody was active.
type day struct {
	date      string
	workforce *workforce
	usages    []usage // By person.
	shuffled  bool
}

// arranged shuffles a list if ShuffleLists is set.
func arranged[T any](d *day, list []T) []T {
	if d.shuffled {
		shuffle(list)
	}
	return list
}

// The rows of /tokens.
type (
	tokensDay struct {
		Date             string        `json:"date"`
		BillableTokens   int64         `json:"billable_tokens"`
		InputTokens      int64         `json:"input_tokens"`
		OutputTokens     int64         `json:"output_tokens"`
		CacheReadTokens  int64         `json:"cache_read_tokens"`
		CacheWriteTokens int64         `json:"cache_write_tokens"`
		ByModel          []modelTokens `json:"by_model"`
		ByUser           []userTokens  `json:"by_user"`
	}
	modelTokens struct {
		ModelID        string `json:"model_id"`
		ModelTier      string `json:"model_tier"`
		BillableTokens int64  `json:"billable_tokens"`
		InputTokens    int64  `json:"input_tokens"`
		OutputTokens   int64  `json:"output_tokens"`
	}
	userTokens struct {
		UserID         string        `json:"user_id"`
		UserEmail      *string       `json:"user_email"`
		BillableTokens int64         `json:"billable_tokens"`
		ByModel        []modelTokens `json:"by_model"`
	}
	tokensModelDay struct {
		Date           string `json:"date"`
		GroupKey       string `json:"group_key"`
		BillableTokens int64  `json:"billable_tokens"`
		InputTokens    int64  `json:"input_tokens"`
		OutputTokens   int64  `json:"output_tokens"`
	}
)

func (m modelUsage) view() modelTokens {
	return modelTokens{m.id, m.tier, m.billable, m.input, m.output}
}

// modelsOf adds up what was used of each model, in their order.
func modelsOf(usages []usage) []modelUsage {
	var used []modelUsage
	for _, m := range models {
		all := modelUsage{model: m}
		for _, u := range usages {
			for _, one := range u.models {
				if one.id == m.id {
					all.add(one)
				}
			}
		}
		if all.billable > 0 {
			used = append(used, all)
		}
	}
	return used
}

func tokensRow(d *day) any {
	row := tokensDay{Date: d.date}
	for _, m := range modelsOf(d.usages) {
		row.BillableTokens += m.billable
		row.InputTokens += m.input
		row.OutputTokens += m.output
		row.CacheReadTokens += m.cacheRead
		row.CacheWriteTokens += m.cacheWrite
		row.ByModel = append(row.ByModel, m.view())
	}
	for _, u := range d.usages {
		one := userTokens{UserID: u.person.id, UserEmail: u.person.email, BillableTokens: u.billable()}
		for _, m := range u.models {
			one.ByModel = append(one.ByModel, m.view())
		}
		one.ByModel = arranged(d, one.ByModel)
		row.ByUser = append(row.ByUser, one)
	}
	row.ByModel, row.ByUser = arranged(d, row.ByModel), arranged(d, row.ByUser)
	return row
}

func tokensByModel(d *day) []any {
	var rows []any
	for _, m := range modelsOf(d.usages) {
		rows = append(rows, tokensModelDay{d.date, m.id, m.billable, m.input, m.output})
	}
	return rows
}

// The rows of /tools.
type (
	toolsDay struct {
		Date                     string        `json:"date"`
		ToolCalls                int64         `json:"tool_calls"`
		ByTool                   []toolCount   `json:"by_tool"`
		MCPUsersWithMCP          int64         `json:"mcp_users_with_mcp"`
		MCPByServer              []serverCount `json:"mcp_by_server"`
		SkillsInvocations        int64         `json:"skills_invocations"`
		SkillsByName             []nameCount   `json:"skills_by_name"`
		SlashCommandsInvocations int64         `json:"slash_commands_invocations"`
		SlashCommandsByName      []nameCount   `json:"slash_commands_by_name"`
		HooksInvocations         int64         `json:"hooks_invocations"`
		HooksByEvent             []hookCount   `json:"hooks_by_event"`
		WebUsers                 int64         `json:"web_users"`
		AutonomyRatioAvg         float64       `json:"autonomy_ratio_avg"`
		AutonomyRatioP50         float64       `json:"autonomy_ratio_p50"`
		AutonomyRatioP90         float64       `json:"autonomy_ratio_p90"`
		ToolCallsPerSessionAvg   float64       `json:"tool_calls_per_session_avg"`
		UserTurnsPerSessionAvg   float64       `json:"user_turns_per_session_avg"`
		ToolAutonomyLevelRatio   levelRatio    `json:"tool_autonomy_level_ratio"`
	}
	toolCount struct {
		Tool        string `json:"tool"`
		Invocations int64  `json:"invocations"`
	}
	serverCount struct {
		Server      string `json:"server"`
		Invocations int64  `json:"invocations"`
	}
	nameCount struct {
		Name  string `json:"name"`
		Count int64  `json:"count"`
	}
	hookCount struct {
		Event   string `json:"event"`
		Matcher string `json:"matcher"`
		Command string `json:"command"`
		Count   int64  `json:"count"`
	}
	levelRatio struct {
		AutoHigh   float64 `json:"auto_high"`
		AutoMedium float64 `json:"auto_medium"`
		AutoLow    float64 `json:"auto_low"`
		Manual     float64 `json:"manual"`
	}
	toolDay struct {
		Date      string `json:"date"`
		GroupKey  string `json:"group_key"`
		ToolCalls int64  `json:"tool_calls"`
	}
)

func toolsRow(d *day) any {
	row := toolsDay{Date: d.date}
	var all usage
	ratios, byLevel := []float64{}, map[string]int64{}
	for _, u := range d.usages {
		addAll(all.tools[:], u.tools[:])
		addAll(all.servers[:], u.servers[:])
		addAll(all.skills[:], u.skills[:])
		addAll(all.commands[:], u.commands[:])
		addAll(all.hooks[:], u.hooks[:])
		all.sessions += u.sessions
		all.userMessages += u.userMessages
		if sum(u.servers[:]) > 0 {
			row.MCPUsersWithMCP++
		}
		if u.clients[clientWeb] {
			row.WebUsers++
		}
		ratios = append(ratios, u.autonomyRatio())
		byLevel[u.level] += u.toolCalls()
	}
	row.ToolCalls, row.ByTool = all.toolCalls(), arranged(d, countTools(all.tools[:]))
	row.MCPByServer = arranged(d, countServers(all.servers[:]))
	row.SkillsInvocations, row.SkillsByName = sum(all.skills[:]), arranged(d, countNames(skillNames[:], all.skills[:]))
	row.SlashCommandsInvocations, row.SlashCommandsByName = sum(all.commands[:]), arranged(d, countNames(commandNames[:], all.commands[:]))
	row.HooksInvocations, row.HooksByEvent = sum(all.hooks[:]), arranged(d, countHooks(all.hooks[:]))
	slices.Sort(ratios)
	row.AutonomyRatioAvg, row.AutonomyRatioP50, row.AutonomyRatioP90 = all.autonomyRatio(), percentile(ratios, 0.5), percentile(ratios, 0.9)
	row.ToolCallsPerSessionAvg = ratio(row.ToolCalls, all.sessions)
	row.UserTurnsPerSessionAvg = ratio(all.userMessages, all.sessions)
	row.ToolAutonomyLevelRatio = levelRatio{
		AutoHigh: ratio(byLevel["auto-high"], row.ToolCalls), AutoMedium: ratio(byLevel["auto-medium"], row.ToolCalls),
		AutoLow: ratio(byLevel["auto-low"], row.ToolCalls), Manual: ratio(byLevel["manual"]+byLevel["spec"], row.ToolCalls),
	}
	return row
}

func toolsByName(d *day) []any {
	var all usage
	for _, u := range d.usages {
		addAll(all.tools[:], u.tools[:])
	}
	var rows []any
	for _, t := range countTools(all.tools[:]) {
		rows = append(rows, toolDay{d.date, t.Tool, t.Invocations})
	}
	return rows
}

func countTools(counts []int64) []toolCount {
	list := []toolCount{}
	for i, n := range counts {
		if n > 0 {
			list = append(list, toolCount{toolNames[i], n})
		}
	}
	return list
}

func countServers(counts []int64) []serverCount {
	list := []serverCount{}
	for i, n := range counts {
		if n > 0 {
			list = append(list, serverCount{serverNames[i], n})
		}
	}
	return list
}

func countNames(names []string, counts []int64) []nameCount {
	list := []nameCount{}
	for i, n := range counts {
		if n > 0 {
			list = append(list, nameCount{names[i], n})
		}
	}
	return list
}

func countHooks(counts []int64) []hookCount {
	list := []hookCount{}
	for i, n := range counts {
		if n > 0 {
			list = append(list, hookCount{hooks[i].event, hooks[i].matcher, hooks[i].command, n})
		}
	}
	return list
}

// autonomyRatio is how many tools were called for each message of a user.
func (u usage) autonomyRatio() float64 { return ratio(u.toolCalls(), u.userMessages) }

func ratio(part, whole int64) float64 { return float64(part) / float64(whole) }

// percentile returns the smallest of the sorted values that the given part of them does not exceed.
func percentile(sorted []float64, part float64) float64 {
	return sorted[int(math.Ceil(part*float64(len(sorted))))-1]
}

// The rows of /activity.
type (
	activityDay struct {
		Date                     string           `json:"date"`
		DailyActiveUsers         int64            `json:"daily_active_users"`
		WeeklyActiveUsers        int              `json:"weekly_active_users"`
		MonthlyActiveUsers       int              `json:"monthly_active_users"`
		DailyActiveUsersByClient map[string]int64 `json:"daily_active_users_by_client"`
		Sessions                 int64            `json:"sessions"`
		Messages                 int64            `json:"messages"`
		UserMessages             int64            `json:"user_messages"`
	}
	clientDay struct {
		Date             string `json:"date"`
		GroupKey         string `json:"group_key"`
		DailyActiveUsers int64  `json:"daily_active_users"`
	}
)

func activityRow(d *day) any {
	row := activityDay{
		Date: d.date, DailyActiveUsers: int64(len(d.usages)), WeeklyActiveUsers: d.workforce.activeUntil(d.date, 7),
		MonthlyActiveUsers: d.workforce.activeUntil(d.date, 30), DailyActiveUsersByClient: usersByClient(d.usages),
	}
	for _, u := range d.usages {
		row.Sessions += u.sessions
		row.Messages += u.userMessages + u.assistantMessages
		row.UserMessages += u.userMessages
	}
	return row
}

func activityByClient(d *day) []any {
	users := usersByClient(d.usages)
	var rows []any
	for _, name := range clientNames {
		if users[name] > 0 {
			rows = append(rows, clientDay{d.date, name, users[name]})
		}
	}
	return rows
}

// usersByClient counts a person once for each of their clients. Unused clients have 0.
func usersByClient(usages []usage) map[string]int64 {
	users := map[string]int64{}
	for i, name := range clientNames {
		users[name] = 0
		for _, u := range usages {
			if u.clients[i] {
				users[name]++
			}
		}
	}
	return users
}

// The row of /productivity.
type (
	productivityDay struct {
		Date          string           `json:"date"`
		FilesCreated  int64            `json:"files_created"`
		FilesEdited   int64            `json:"files_edited"`
		ByExtension   []extensionCount `json:"by_extension"`
		ByLanguage    []languageCount  `json:"by_language"`
		GitCommits    int64            `json:"git_commits"`
		GitPRsCreated int64            `json:"git_prs_created"`
	}
	extensionCount struct {
		Extension string `json:"extension"`
		Count     int64  `json:"count"`
	}
	languageCount struct {
		Language string `json:"language"`
		Count    int64  `json:"count"`
	}
)

func productivityRow(d *day) any {
	row := productivityDay{Date: d.date}
	var all usage
	for _, u := range d.usages {
		addAll(all.created[:], u.created[:])
		addAll(all.edited[:], u.edited[:])
		row.GitCommits += u.commits
		row.GitPRsCreated += u.pullRequests
	}
	row.FilesCreated, row.FilesEdited = sum(all.created[:]), sum(all.edited[:])
	row.ByExtension = arranged(d, countExtensions(all.created[:], all.edited[:]))
	row.ByLanguage = arranged(d, countLanguages(all.created[:], all.edited[:]))
	return row
}

func countExtensions(created, edited []int64) []extensionCount {
	list := []extensionCount{}
	for i, kind := range fileKinds {
		if n := created[i] + edited[i]; n > 0 {
			list = append(list, extensionCount{kind.extension, n})
		}
	}
	return list
}

// countLanguages joins the neighbours in fileKinds that have the same language.
func countLanguages(created, edited []int64) []languageCount {
	list := []languageCount{}
	for i, kind := range fileKinds {
		n := created[i] + edited[i]
		if last := len(list) - 1; last >= 0 && list[last].Language == kind.language {
			list[last].Count += n
		} else if n > 0 {
			list = append(list, languageCount{kind.language, n})
		}
	}
	return list
}

// userDay is the row of /users.
type userDay struct {
	UserID            string   `json:"user_id"`
	UserEmail         *string  `json:"user_email"`
	Date              string   `json:"date"`
	ToolCalls         int64    `json:"tool_calls"`
	BillableTokens    int64    `json:"billable_tokens"`
	PrimaryModel      string   `json:"primary_model"`
	PrimaryModelTier  string   `json:"primary_model_tier"`
	FilesCreated      int64    `json:"files_created"`
	FilesEdited       int64    `json:"files_edited"`
	GitCommits        int64    `json:"git_commits"`
	GitPRsCreated     int64    `json:"git_prs_created"`
	MCPCalls          int64    `json:"mcp_calls"`
	SkillCalls        int64    `json:"skill_calls"`
	SlashCommands     int64    `json:"slash_commands"`
	Hooks             int64    `json:"hooks"`
	Sessions          int64    `json:"sessions"`
	Messages          int64    `json:"messages"`
	UserMessages      int64    `json:"user_messages"`
	AssistantMessages int64    `json:"assistant_messages"`
	AutonomyRatio     float64  `json:"autonomy_ratio"`
	DelegationLevel   string   `json:"delegation_level"`
	Languages         []string `json:"languages"`
}

func usersRow(u usage, shuffled bool) userDay {
	row := userDay{
		UserID: u.person.id, UserEmail: u.person.email, Date: u.date, ToolCalls: u.toolCalls(), BillableTokens: u.billable(),
		PrimaryModel: u.models[0].id, PrimaryModelTier: u.models[0].tier, FilesCreated: sum(u.created[:]), FilesEdited: sum(u.edited[:]),
		GitCommits: u.commits, GitPRsCreated: u.pullRequests, MCPCalls: sum(u.servers[:]), SkillCalls: sum(u.skills[:]),
		SlashCommands: sum(u.commands[:]), Hooks: sum(u.hooks[:]), Sessions: u.sessions, Messages: u.userMessages + u.assistantMessages,
		UserMessages: u.userMessages, AssistantMessages: u.assistantMessages, AutonomyRatio: u.autonomyRatio(),
		DelegationLevel: u.level, Languages: u.languages(),
	}
	if shuffled {
		shuffle(row.Languages)
	}
	return row
}
