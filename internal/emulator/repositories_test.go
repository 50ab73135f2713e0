package emulator_test

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestConnectRepositoryRefuses(t *testing.T) {
	v := startParallel(t)
	for _, c := range []struct {
		given emulator.Repository
		want  string
	}{
		{emulator.Repository{URL: "http://code.example/acme/new"}, "must have the form https://host/owner/name"},
		{emulator.Repository{URL: "https://code.example/acme/new/deep"}, "must have the form https://host/owner/name"},
		{emulator.Repository{URL: "https://robin@code.example/acme/new"}, "must have the form https://host/owner/name"},
		{emulator.Repository{URL: "https://code.example/acme/new?x=1"}, "must have the form https://host/owner/name"},
		{emulator.Repository{URL: "https://code.example/acme/new", UserPermission: "king"}, `"king" is not admin, write, or read`},
		{emulator.Repository{URL: "https://other.example/Acme/API"}, "repository https://code.example/acme/api is already connected"},
	} {
		fails(t, v.ConnectRepository(c.given), c.want)
	}
}

// One repository has many addresses; whichever is used, it is there once.
func TestRepositoryAddresses(t *testing.T) {
	v := startParallel(t)
	for _, address := range []string{
		"https://code.example/acme/new", "https://code.example/acme/new/", "https://code.example/acme/new.git",
		"https://code.example/acme/new.git/", "https://CODE.example/Acme/NEW.GIT",
	} {
		must(t, v.ConnectRepository(emulator.Repository{URL: "https://Code.example/acme/new"}))
		if err := v.DisconnectRepository(address); err != nil {
			t.Error(err)
		}
		fails(t, v.DisconnectRepository(address), "is not connected")
	}
	fails(t, v.DisconnectRepository("https://other.example/acme/api"), "is not connected")
}
