package emulator

// What people use. Names are those of a real organization: servers whose spelling differs by case, a tool whose name
// is malformed.
var (
	models = [...]model{
		{"model-standard", "standard", 100}, {"model-code", "standard", 100}, {"model-mini", "standard", 40}, {"model-thinking", "thinking", 200},
	}
	toolNames    = [...]string{"Execute", "Read", "Edit", "Search", "fetch_url\n"}
	serverNames  = [...]string{"tracker", "Tracker", "docs"}
	skillNames   = [...]string{"code-review", "release-notes"}
	commandNames = [...]string{"compact", "review"}
	hooks        = [...]hook{{"PreToolUse", "Execute", "./check.sh"}, {"Stop", "", "./notify.sh"}}
	clientNames  = [...]string{"terminal-ui", "web", "non-interactive-cli"}
	fileKinds    = [...]fileKind{{"go", "Go"}, {"ts", "TypeScript"}, {"tsx", "TypeScript"}, {"py", "Python"}, {"tf", "HCL"}}
	levels       = [...]string{"auto-high", "auto-medium", "auto-low", "spec", "manual"}
)

const clientWeb = 1 // The index of web in clientNames.

type (
	// model is a model; percent is what its tokens cost in credits.
	model struct {
		id, tier string
		percent  int64
	}
	hook     struct{ event, matcher, command string }
	fileKind struct{ extension, language string }
)

// usage is what one person did on one day. Every number of every endpoint is one of these or a sum of them, so that the
// endpoints agree with each other.
type usage struct {
	person person
	date   string
	seed   seed

	models                          []modelUsage // Not empty; the one that cost most is the first.
	tools                           [len(toolNames)]int64
	servers                         [len(serverNames)]int64
	skills                          [len(skillNames)]int64
	commands                        [len(commandNames)]int64
	hooks                           [len(hooks)]int64
	clients                         [len(clientNames)]bool // At least one.
	created, edited                 [len(fileKinds)]int64
	commits, pullRequests           int64
	sessions                        int64
	userMessages, assistantMessages int64
	level                           string
}

// modelUsage is what was used of one model; it is a modelTokens of the API together with what that leaves out.
type modelUsage struct {
	model
	billable, input, output, cacheRead, cacheWrite int64
}

func (m *modelUsage) add(other modelUsage) {
	m.billable += other.billable
	m.input += other.input
	m.output += other.output
	m.cacheRead += other.cacheRead
	m.cacheWrite += other.cacheWrite
}

// usageOf generates a person's day. The same person and date lead to the same numbers.
func usageOf(p person, date string) usage {
	l := newSeed(p.address).of(date)
	u := usage{
		person: p, date: date, seed: l,
		commits: l.of("commits").between(0, 6), pullRequests: l.of("pull requests").between(0, 2),
		sessions: l.of("sessions").between(1, 8), level: levels[l.of("level").between(0, int64(len(levels))-1)],
	}
	u.userMessages = u.sessions + l.of("user messages").between(0, 40)
	u.assistantMessages = u.userMessages + l.of("assistant messages").between(0, 120)
	draw(u.tools[:], l.of("tools"), 60)
	u.tools[0]++ // Nobody is active without any tool.
	draw(u.servers[:], l.of("servers"), 4)
	draw(u.skills[:], l.of("skills"), 2)
	draw(u.commands[:], l.of("commands"), 3)
	draw(u.hooks[:], l.of("hooks"), 10)
	draw(u.created[:], l.of("created"), 2)
	draw(u.edited[:], l.of("edited"), 9)
	some := l.of("clients").between(1, 1<<len(clientNames)-1)
	for i := range u.clients {
		u.clients[i] = some&(1<<i) != 0
	}

	first := l.of("model").between(0, int64(len(models))-1)
	u.models = append(u.models, usageOfModel(models[first], l))
	if next := first + l.of("second model").between(0, 3); next != first && next < int64(len(models)) {
		u.models = append(u.models, usageOfModel(models[next], l))
	}
	if len(u.models) > 1 && u.models[1].billable > u.models[0].billable {
		u.models[0], u.models[1] = u.models[1], u.models[0]
	}
	return u
}

// usageOfModel counts reads from the cache as a tenth of other input.
func usageOfModel(m model, l seed) modelUsage {
	l = l.of(m.id)
	n := modelUsage{model: m, input: l.of("input").between(20_000, 900_000), output: l.of("output").between(1_000, 60_000)}
	n.cacheRead = n.input * l.of("cache read").between(30, 90) / 100
	n.cacheWrite = (n.input - n.cacheRead) * l.of("cache write").between(10, 50) / 100
	n.billable = (n.input - n.cacheRead + n.cacheRead/10 + n.output) * m.percent / 100
	return n
}

func (u usage) billable() int64 {
	var sum int64
	for _, m := range u.models {
		sum += m.billable
	}
	return sum
}

func (u usage) toolCalls() int64 { return sum(u.tools[:]) }

// languages are those of the files that were created or edited.
func (u usage) languages() []string {
	names := []string{}
	for _, l := range countLanguages(u.created[:], u.edited[:]) {
		names = append(names, l.Language)
	}
	return names
}

func sum(counts []int64) int64 {
	var n int64
	for _, c := range counts {
		n += c
	}
	return n
}

func addAll(to, counts []int64) {
	for i, c := range counts {
		to[i] += c
	}
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

// at continues the hash with a number.
func (s seed) at(i int) seed { return (s ^ seed(i)) * 1099511628211 }

// between returns a number from low to high. The last bits of the hash alone are not random enough.
func (s seed) between(low, high int64) int64 {
	n := uint64(s)
	n = (n ^ n>>33) * 0xff51afd7ed558ccd
	n = (n ^ n>>33) * 0xc4ceb9fe1a85ec53
	n ^= n >> 33
	return low + int64(n%uint64(high-low+1)) //nolint:gosec // The remainder is at most high-low.
}

// draw fills in counts from 0 to most; about half of them are 0 where most is small.
func draw(counts []int64, s seed, most int64) {
	for i := range counts {
		counts[i] = max(0, s.at(i).between(-most/2, most))
	}
}
