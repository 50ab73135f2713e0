package emulator

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// What a caller may do in a repository.
const (
	permissionAdmin = "admin"
	permissionWrite = "write"
	permissionRead  = "read"
)

// Repository is one that the organization's code-host integration covers.
type Repository struct {
	// URL is the https address: a host, an owner and a name, such as https://code.example/acme/api.
	URL string `json:"url"`
	// DefaultBranch is main if it is empty.
	DefaultBranch string `json:"defaultBranch"`
	IsPrivate     bool   `json:"isPrivate"`
	// UserPermission is admin, write or read; empty means admin.
	UserPermission string `json:"userPermission"`
	// ServiceAppWritable says that the service itself may write to the repository.
	ServiceAppWritable bool `json:"serviceAppWritable"`
}

// connectedRepository is a repository as it is stored. Its FullName, such as acme/api, is unique, ignoring case.
type connectedRepository struct {
	Repository
	FullName string `json:"fullName"`
}

// Repositories are by full name in lower case.
var repositoryTable = &table[connectedRepository]{name: "repositories"}

// initialRepositories are the repositories that every emulator starts with.
var initialRepositories = []Repository{
	{"https://code.example/acme/api", "main", true, permissionAdmin, true},
	{"https://code.example/acme/web", "main", false, permissionWrite, true},
	{"https://code.example/acme/legacy", "master", true, permissionRead, false},
	{"https://code.example/robin/tools", "main", false, permissionAdmin, true},
}

func firstRepositories(tx *bolt.Tx) error {
	var errs []error
	for _, given := range initialRepositories {
		errs = append(errs, connectRepository(tx, given))
	}
	return errors.Join(errs...)
}

// repositoryAddress takes an address apart. The form ending in ".git" or "/" names the same repository.
func repositoryAddress(address string) (host, fullName string, ok bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", "", false
	}
	path := strings.TrimPrefix(strings.TrimSuffix(u.EscapedPath(), "/"), "/")
	if len(path) > len(".git") && strings.EqualFold(path[len(path)-len(".git"):], ".git") {
		path = path[:len(path)-len(".git")]
	}
	owner, name, _ := strings.Cut(path, "/")
	ok = owner != "" && name != "" && !strings.Contains(name, "/")
	return strings.ToLower(u.Host), path, ok
}

// repositoryKey is the form in which full names are the same.
func repositoryKey(fullName string) string { return strings.ToLower(fullName) }

func connectRepository(tx *bolt.Tx, given Repository) error {
	host, fullName, ok := repositoryAddress(given.URL)
	known, err := repositoryTable.get(tx, repositoryKey(fullName), nil)
	address := "https://" + host + "/" + fullName
	switch {
	case !ok:
		return fmt.Errorf("the URL %q must have the form https://host/owner/name", given.URL)
	case !slices.Contains([]string{"", permissionAdmin, permissionWrite, permissionRead}, given.UserPermission):
		return fmt.Errorf("the permission %q is not admin, write, or read", given.UserPermission)
	case err != nil:
		return err
	case known != nil && !strings.EqualFold(known.URL, address):
		return fmt.Errorf("the repository %s is already connected and has the same name", known.URL)
	}
	given.URL, given.DefaultBranch, given.UserPermission = address, cmp.Or(given.DefaultBranch, "main"), cmp.Or(given.UserPermission, permissionAdmin)
	return repositoryTable.put(tx, repositoryKey(fullName), connectedRepository{given, fullName})
}

// repositoryByName finds a repository that the integration covers, by a full name such as acme/api in any case.
func (r *request) repositoryByName(fullName string) (repo connectedRepository, covered bool, err error) {
	if r.e.switched().noIntegration {
		return connectedRepository{}, false, nil
	}
	found, err := repositoryTable.get(r.tx, repositoryKey(fullName), nil)
	if found == nil {
		return connectedRepository{}, false, err
	}
	return *found, true, nil
}

// repositoryByURL finds a repository that the integration covers, by its address in any form of repositoryAddress.
func (r *request) repositoryByURL(address string) (repo connectedRepository, covered bool, err error) {
	host, fullName, ok := repositoryAddress(address)
	if !ok {
		return connectedRepository{}, false, nil
	}
	repo, covered, err = r.repositoryByName(fullName)
	if !covered || repo.host() != host {
		return connectedRepository{}, false, err
	}
	return repo, true, nil
}

// repositories are all that the integration covers, by their names.
func (r *request) repositories() ([]*connectedRepository, error) {
	if r.e.switched().noIntegration {
		return nil, nil
	}
	return repositoryTable.list(r.tx, "")
}

func (c connectedRepository) host() string {
	host, _, _ := repositoryAddress(c.URL)
	return host
}

func (c connectedRepository) owner() string {
	owner, _, _ := strings.Cut(c.FullName, "/")
	return owner
}

// headCommit is the newest commit of a branch. It depends on the address and the branch alone.
func (c connectedRepository) headCommit(branch string) string {
	sum := sha256.Sum256([]byte(c.URL + " " + branch))
	return hex.EncodeToString(sum[:20])
}

// ConnectRepository lets the code-host integration cover a repository; one that it covers gets the given properties.
// An error means that the address or the permission is wrong, or that a repository of another host has the name.
func (e *Emulator) ConnectRepository(given Repository) error {
	return e.store.db.Update(func(tx *bolt.Tx) error {
		return connectRepository(tx, given)
	})
}

// DisconnectRepository ends what ConnectRepository began. It is an error if there is no such repository.
func (e *Emulator) DisconnectRepository(address string) error {
	return e.store.db.Update(func(tx *bolt.Tx) error {
		host, fullName, _ := repositoryAddress(address)
		missing := fmt.Errorf("the repository %q is not connected", address)
		known, err := repositoryTable.get(tx, repositoryKey(fullName), missing)
		switch {
		case err != nil:
			return err
		case known.host() != host:
			return missing
		}
		return repositoryTable.remove(tx, repositoryKey(fullName))
	})
}

// ConnectIntegration says whether the organization's code-host integration is connected. Without it no repository is
// covered; those that were are so again when it is back.
func (e *Emulator) ConnectIntegration(connected bool) {
	e.program(func(s *switches) { s.noIntegration = !connected })
}
