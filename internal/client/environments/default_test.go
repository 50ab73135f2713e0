package environments

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

func TestSetDefaultEnvironment(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answers []string // The last one is repeated.
		wantErr func(error) bool
		puts    int
	}{
		"set":           {answers: []string{`200 {"defaultEnvironmentId":"env_1"}`}, puts: 1},
		"in capitals":   {answers: []string{`200 {"defaultEnvironmentId":"ENV_1"}`}, puts: 1},
		"said nothing":  {answers: []string{"204 "}, puts: 1},
		"another one":   {answers: []string{`200 {"defaultEnvironmentId":"env_2"}`}, wantErr: clienttest.Is[*wire.ResponseError], puts: 1},
		"none":          {answers: []string{`200 {"defaultEnvironmentId":null}`}, wantErr: clienttest.Is[*wire.ResponseError], puts: 1},
		"refused":       {answers: []string{`409 {"detail":"never built"}`}, wantErr: clienttest.Is[*transport.APIError], puts: 1},
		"lost for good": {answers: []string{"drop"}, wantErr: clienttest.Is[*transport.TransportError], puts: 4},
	} {
		n := 0
		c, rec, _ := area.ServeShort(t, func(string) string { n++; return tc.answers[min(n, len(tc.answers))-1] })
		err := c.SetDefault(t.Context(), "env_1")
		if !clienttest.IsA(err, tc.wantErr) || len(rec.Calls()) != tc.puts || rec.Calls()[0] != "PUT /default" || rec.Bodies[0] != `{"environmentId":"env_1"}` {
			t.Errorf("%s: got %v after %v", name, err, rec.Calls())
		}
		clienttest.WantText(t, err, "setDefaultEnvironment")
	}
}

func TestProvisionDefaultEnvironment(t *testing.T) {
	t.Parallel()
	const made = `200 {"environments":[{"id":"env_1","name":"Default","repositories":[],"isDefault":true}]}`
	for name, tc := range map[string]struct {
		answers []string
		wantErr func(error) bool
	}{
		"provisioned":      {answers: []string{"204 ", made}},
		"lost":             {answers: []string{"drop", `503 {"detail":"no"}`, "204 ", made}},
		"made, lost":       {answers: []string{"drop", "drop", "drop", "drop", made}},
		"refused":          {answers: []string{`403 {"detail":"no"}`}, wantErr: clienttest.Is[*transport.APIError]},
		"never answered":   {answers: []string{"drop", "drop", "drop", "drop", `403 {"detail":"no"}`}, wantErr: clienttest.Is[*transport.TransportError]},
		"without a result": {answers: []string{"204 ", `200 {"environments":[]}`}, wantErr: clienttest.Is[*wire.ResponseError]},
	} {
		n := 0
		c, rec, _ := area.ServeShort(t, func(string) string { n++; return tc.answers[min(n, len(tc.answers))-1] })
		id, err := c.ProvisionDefault(t.Context())
		if !clienttest.IsA(err, tc.wantErr) || (id == "env_1") != (err == nil) || len(rec.Calls()) != len(tc.answers) || rec.Calls()[0] != "POST /default" {
			t.Errorf("%s: got %q, %v after %v", name, id, err, rec.Calls())
		}
	}
}

func TestSourceOptions_readsEveryForm(t *testing.T) {
	t.Parallel()
	source := func(id, name string) string {
		return fmt.Sprintf(`{"id":%q,"name":%q,"supportsRepositories":true,"supportsSetupScripts":false}`, id, name)
	}
	for answer, want := range map[string]string{
		`{"providers":[{"id":"b","sources":[` + source("s", "T") + "," + source("t", "S") + `]},{"id":"a"}],"unavailableProviders":[{"id":"d"},{"id":"c"}]}`: `{"providers":[{"id":"a","name":"","sources":null},{"id":"b","name":"","sources":[` + source("t", "S") + "," + source("s", "T") + `]}],"unavailableProviders":[{"id":"c","name":""},{"id":"d","name":""}]}`,
		`{"providers":[],"new":1}`: `{"providers":[],"unavailableProviders":null}`,
		`{"providers":[{"id":"a","sources":null}],"unavailableProviders":null}`:          `{"providers":[{"id":"a","name":"","sources":null}],"unavailableProviders":null}`,
		`{"providers":[{"id":"a","sources":[{"id":"s"}]}]}`:                              "",
		`{"providers":[{"id":"a","sources":[{"id":"s","supportsRepositories":false}]}]}`: "",
		`{"providers":[{"id":"a","sources":[{"name":"s"}]}]}`:                            "",
		`{}`: "",
	} {
		c, _, _ := area.ServeShort(t, clienttest.Responses(map[string]string{"GET /source-options": "200 " + answer}))
		found, err := c.SourceOptions(t.Context())
		got, _ := json.Marshal(found) // A failure differs.
		if (err == nil) != (want != "") || err == nil && string(got) != want {
			t.Errorf("%s: got %s, %v", answer, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "getEnvironmentSourceOptions") {
			t.Errorf("%s: the error does not name the operation: %v", answer, err)
		}
	}
}

func TestDefault_besideAnEmptyListing(t *testing.T) {
	t.Parallel()
	c, _, _ := area.ServeShort(t, func(string) string { return `200 {"environments":[],"defaultEnvironmentId":"env_1"}` })
	if id, err := c.Default(t.Context(), "sa_1"); err != nil || id != "env_1" {
		t.Errorf("got %q, %v", id, err)
	}
}
