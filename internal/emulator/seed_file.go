package emulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

// ReadSeed reads a seed file. An error about its content begins with the file, and the line and column of the wrong entry.
func ReadSeed(file string) (*Seed, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the seed: %w", err)
	}
	r := &seedReader{
		data: data, dec: json.NewDecoder(bytes.NewReader(data)), seed: Seed{file: file},
		emails: map[string]bool{emailKey(initialManager): true}, accounts: map[string]bool{}, repositories: map[string]string{},
	}
	r.dec.DisallowUnknownFields()
	for _, initial := range initialRepositories {
		host, name, _ := repositoryAddress(initial.URL)
		r.repositories[repositoryKey(name)] = host
	}
	if err := r.organization(); err != nil {
		before := data[:r.at]
		line := bytes.Count(before, []byte("\n")) + 1
		column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
		return nil, fmt.Errorf("%s:%d:%d: %w", file, line, column, err)
	}
	return &r.seed, nil
}

// seedReader reads a file up to the first entry that is wrong.
type seedReader struct {
	data []byte
	dec  *json.Decoder
	seed Seed
	at   int // Where the current entry begins in the file.
	// What the names of entries must not repeat, and the hosts of repositories by name.
	emails, accounts map[string]bool
	repositories     map[string]string
}

func (r *seedReader) organization() error {
	var whole json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(r.data, &whole); errors.As(err, &syntax) {
		r.at = max(0, int(syntax.Offset)-1)
		return err
	}
	if r.next() != json.Delim('{') {
		return errors.New("the file must be an object")
	}
	limitsAt := 0
	for r.dec.More() {
		var err error
		switch name := r.next(); name {
		case "members":
			err = each(r, r.member)
		case "repositories":
			err = each(r, r.repository)
		case "serviceAccounts":
			err = each(r, r.account)
		case "usageLimits":
			r.skip()
			limitsAt = r.at
			err = r.limits()
		default:
			err = fmt.Errorf("unknown field %q", name)
		}
		if err != nil {
			return err
		}
	}
	r.at = limitsAt
	limited := map[string]bool{}
	for _, l := range r.seed.UserLimits { // Last, because the members may come after them.
		switch email := emailKey(l.Email); {
		case !r.emails[email]:
			return fmt.Errorf("there is no member %q", l.Email)
		case limited[email]:
			return fmt.Errorf("there are two limits of %q", l.Email)
		default:
			limited[email] = true
		}
	}
	return nil
}

// skip moves to the next value or field name.
func (r *seedReader) skip() {
	r.at = int(r.dec.InputOffset())
	r.at += len(r.data[r.at:]) - len(bytes.TrimLeft(r.data[r.at:], " \t\r\n,:"))
}

// next returns the next token. It never fails, because the file is valid JSON.
func (r *seedReader) next() json.Token {
	r.skip()
	token, _ := r.dec.Token()
	return token
}

// each reads the entries of a list.
func each[T any](r *seedReader, add func(T) error) error {
	if r.next() != json.Delim('[') {
		return errors.New("the value must be a list")
	}
	for r.dec.More() {
		var entry T
		if err := r.decode(&entry); err != nil {
			return err
		}
		if err := add(entry); err != nil {
			return err
		}
	}
	r.next()
	return nil
}

// decode reads the next value.
func (r *seedReader) decode(into any) error {
	r.skip()
	err := r.dec.Decode(into)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong) && wrong.Field == "":
		return fmt.Errorf("the value must be an object, not a %s", wrong.Value)
	case errors.As(err, &wrong):
		return fmt.Errorf("the type of %q is wrong: %s", wrong.Field, wrong.Value)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

func (r *seedReader) member(h Human) error {
	if h.Role == "" {
		h.Role = RoleUser
	}
	if err := checkHuman(h.Email, h.Role); err != nil {
		return err
	}
	if r.emails[emailKey(h.Email)] {
		return fmt.Errorf("there is another member %q", h.Email)
	}
	r.emails[emailKey(h.Email)] = true
	r.seed.Members = append(r.seed.Members, h)
	return nil
}

func (r *seedReader) repository(given Repository) error {
	host, name, err := checkRepository(given)
	if err != nil {
		return err
	}
	if known, found := r.repositories[repositoryKey(name)]; found && known != host {
		return fmt.Errorf("there is another repository %q", name)
	}
	r.repositories[repositoryKey(name)] = host
	r.seed.Repositories = append(r.seed.Repositories, given)
	return nil
}

func (r *seedReader) account(a SeedAccount) error {
	switch length := utf8.RuneCountInString(a.Name); {
	case length < 1 || length > maxAccountName || strings.ContainsRune(a.Name, 0):
		return fmt.Errorf("the name of a service account must have 1 to %d characters, without NUL, got: %q", maxAccountName, a.Name)
	case utf8.RuneCountInString(a.Description) > maxDescription:
		return fmt.Errorf("the description of service account %q has more than %d characters", a.Name, maxDescription)
	case r.accounts[a.Name]:
		return fmt.Errorf("there is another service account %q", a.Name)
	}
	r.accounts[a.Name] = true
	r.seed.ServiceAccounts = append(r.seed.ServiceAccounts, a)
	return nil
}

func (r *seedReader) limits() error {
	var given struct {
		Global *int64      `json:"global"`
		Users  []SeedLimit `json:"users"`
	}
	if err := r.decode(&given); err != nil {
		return err
	}
	isWrong := func(credits int64) bool { return credits < minUsageLimit || credits > maxInteger }
	if given.Global != nil && isWrong(*given.Global) {
		return fmt.Errorf("the global limit must be at least %d, got: %d", minUsageLimit, *given.Global)
	}
	for _, l := range given.Users {
		if isWrong(l.Limit) {
			return fmt.Errorf("the limit of %q must be at least %d, got: %d", l.Email, minUsageLimit, l.Limit)
		}
	}
	if given.Global != nil {
		r.seed.GlobalLimit = *given.Global
	}
	r.seed.UserLimits = given.Users
	return nil
}
