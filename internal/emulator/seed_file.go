package emulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ReadSeed reads a seed file. An error about its content begins with the file, line, and column.
func ReadSeed(file string) (*Seed, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the seed: %w", err)
	}
	r := &seedReader{data: data, dec: json.NewDecoder(bytes.NewReader(data)), seed: Seed{file: file}}
	r.dec.UseNumber()
	var whole json.RawMessage
	var syntax *json.SyntaxError
	if !utf8.Valid(data) {
		r.fail(validPrefix(data), "the file is not valid UTF-8")
	} else if err := json.Unmarshal(data, &whole); errors.As(err, &syntax) {
		r.fail(int(syntax.Offset)-1, "%v", err)
	} else {
		r.organization()
	}
	return &r.seed, r.err
}

// validPrefix returns the length of the valid UTF-8 that data begins with.
func validPrefix(data []byte) int {
	n := 0
	for n < len(data) {
		r, size := utf8.DecodeRune(data[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// seedReader reads a file of valid JSON, up to the first value that is wrong.
type seedReader struct {
	data []byte
	dec  *json.Decoder
	seed Seed
	err  error
}

// fail records what is wrong at an offset, unless something was wrong before.
func (r *seedReader) fail(at int, format string, args ...any) {
	if r.err != nil {
		return
	}
	before := r.data[:max(0, min(at, len(r.data)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	r.err = fmt.Errorf("%s:%d:%d: %s", r.seed.file, line, column, fmt.Sprintf(format, args...))
}

// at is the offset of the next value or field name.
func (r *seedReader) at() int {
	at := int(r.dec.InputOffset())
	for at < len(r.data) && strings.IndexByte(" \t\r\n,:", r.data[at]) >= 0 {
		at++
	}
	return at
}

// next returns the next token and its offset.
func (r *seedReader) next() (json.Token, int) {
	at := r.at()
	token, err := r.dec.Token()
	if err != nil {
		r.fail(at, "%v", err)
	}
	return token, at
}

// object reads an object with a function for each of its fields. The required ones must be there.
func (r *seedReader) object(what string, fields map[string]func(), required ...string) {
	token, begin := r.next()
	if token != json.Delim('{') {
		r.fail(begin, "%s must be an object", what)
	}
	seen := map[string]bool{}
	for r.err == nil && r.dec.More() {
		token, at := r.next()
		name, _ := token.(string)
		switch read := fields[name]; {
		case read == nil:
			r.fail(at, "%s has no field %q, only %s", what, name, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		case seen[name]:
			r.fail(at, "the field %q is repeated", name)
		default:
			seen[name] = true
			read()
		}
	}
	for _, name := range required {
		if !seen[name] {
			r.fail(begin, "%s must have the field %q", what, name)
		}
	}
	r.end()
}

// list reads a list with a function for each item.
func (r *seedReader) list(name string, item func()) {
	token, at := r.next()
	if token != json.Delim('[') {
		r.fail(at, "%q must be a list", name)
	}
	for r.err == nil && r.dec.More() {
		item()
	}
	r.end()
}

// end reads the end of an object or a list.
func (r *seedReader) end() {
	if r.err == nil {
		r.next()
	}
}

// text reads a string and returns its offset.
func (r *seedReader) text(name string, into *string, least, most int) int {
	token, at := r.next()
	value, ok := token.(string)
	switch n := utf8.RuneCountInString(value); {
	case !ok:
		r.fail(at, "%q must be a string", name)
	case n < least || n > most:
		r.fail(at, "%q must have %d to %d characters, not %d", name, least, most, n)
	case strings.ContainsRune(value, 0):
		r.fail(at, "%q must not contain a NUL character", name)
	}
	*into = value
	return at
}

// oneOf reads a string that must be one of some values.
func (r *seedReader) oneOf(name string, into *string, values ...string) {
	if at := r.text(name, into, 0, maxBody); !slices.Contains(values, *into) {
		r.fail(at, "%q must be one of %s", name, strings.Join(values, ", "))
	}
}

func (r *seedReader) boolean(name string, into *bool) {
	token, at := r.next()
	value, ok := token.(bool)
	if !ok {
		r.fail(at, "%q must be true or false", name)
	}
	*into = value
}

// limit reads a number of credits.
func (r *seedReader) limit(name string, into *int64) {
	token, at := r.next()
	number, _ := token.(json.Number)
	credits, err := strconv.ParseInt(number.String(), 10, 64)
	if err != nil || credits < minUsageLimit || credits > maxInteger {
		r.fail(at, "%q must be an integer of at least %d", name, minUsageLimit)
	}
	*into = credits
}

// email reads an email address and returns its offset.
func (r *seedReader) email(into *string) int {
	at := r.text("email", into, 0, maxBody)
	if !isAddress(*into) {
		r.fail(at, "%q must be an email address", "email")
	}
	return at
}

// unique refuses the second of two equal names.
func (r *seedReader) unique(at int, seen map[string]bool, name, of string) {
	if seen[name] {
		r.fail(at, "there is another %s %q", of, name)
	}
	seen[name] = true
}

// organization reads the whole file.
func (r *seedReader) organization() {
	emails, limited := map[string]bool{emailKey(initialManager): true}, map[string]bool{}
	names, repositories := map[string]bool{}, map[string]bool{}
	r.object("the file", map[string]func(){
		"members":         func() { r.list("members", func() { r.member(emails) }) },
		"repositories":    func() { r.list("repositories", func() { r.repository(repositories) }) },
		"serviceAccounts": func() { r.list("serviceAccounts", func() { r.account(names) }) },
		"usageLimits":     r.limits,
	})
	for _, l := range r.seed.UserLimits { // Last, because the members may come after them.
		if !emails[emailKey(l.Email)] {
			r.fail(l.at, "there is no member %q", l.Email)
		}
		r.unique(l.at, limited, emailKey(l.Email), "limit of")
	}
}

func (r *seedReader) member(emails map[string]bool) {
	h := Human{Role: RoleUser}
	r.object("a member", map[string]func(){
		"email": func() {
			at := r.email(&h.Email)
			r.unique(at, emails, emailKey(h.Email), "member")
		},
		"firstName": func() { r.text("firstName", &h.FirstName, 0, maxBody) },
		"lastName":  func() { r.text("lastName", &h.LastName, 0, maxBody) },
		"role":      func() { r.oneOf("role", &h.Role, RoleUser, RoleManager, RoleOwner) },
		"metadata": func() {
			if at := r.at(); r.dec.Decode(&h.Metadata) != nil || h.Metadata == nil {
				r.fail(at, "%q must be an object", "metadata")
			}
		},
	}, "email")
	r.seed.Members = append(r.seed.Members, h)
}

func (r *seedReader) repository(seen map[string]bool) {
	var repo Repository
	r.object("a repository", map[string]func(){
		"url": func() {
			at := r.text("url", &repo.URL, 0, maxBody)
			host, name, ok := repositoryAddress(repo.URL)
			if !ok {
				r.fail(at, "%q must be of the form https://host/owner/name", "url")
			}
			for _, initial := range initialRepositories {
				if h, n, _ := repositoryAddress(initial.URL); h != host && repositoryKey(n) == repositoryKey(name) {
					r.fail(at, "%s has the same owner and name", initial.URL)
				}
			}
			r.unique(at, seen, repositoryKey(name), "repository")
		},
		"defaultBranch": func() { r.text("defaultBranch", &repo.DefaultBranch, 0, maxBody) },
		"isPrivate":     func() { r.boolean("isPrivate", &repo.IsPrivate) },
		"userPermission": func() {
			r.oneOf("userPermission", &repo.UserPermission, permissionAdmin, permissionWrite, permissionRead)
		},
		"serviceAppWritable": func() { r.boolean("serviceAppWritable", &repo.ServiceAppWritable) },
	}, "url")
	r.seed.Repositories = append(r.seed.Repositories, repo)
}

func (r *seedReader) account(names map[string]bool) {
	var a SeedAccount
	r.object("a service account", map[string]func(){
		"name": func() {
			at := r.text("name", &a.Name, 1, maxAccountName)
			r.unique(at, names, a.Name, "service account")
		},
		"description": func() { r.text("description", &a.Description, 0, maxDescription) },
	}, "name")
	r.seed.ServiceAccounts = append(r.seed.ServiceAccounts, a)
}

func (r *seedReader) limits() {
	r.object(`"usageLimits"`, map[string]func(){
		"global": func() { r.limit("global", &r.seed.GlobalLimit) },
		"users": func() {
			r.list("users", func() {
				var l SeedLimit
				r.object("a limit", map[string]func(){
					"email": func() { l.at = r.email(&l.Email) },
					"limit": func() { r.limit("limit", &l.Limit) },
				}, "email", "limit")
				r.seed.UserLimits = append(r.seed.UserLimits, l)
			})
		},
	})
}
