package apierror

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/path"
)

func TestFields_find(t *testing.T) {
	t.Parallel()
	known := Fields{
		"name": path.Root("name"), "hostId": path.Root("host_id"), "provider": path.Root("provider_type"), "repos": path.Root("repos"),
		"repositories": path.Root("repositories"), "source": path.Root("source"), "source.templateId": path.Root("source").AtName("template"),
		"templateId": path.Root("elsewhere"), "changes.name": path.Root("title"), "matrix.cell": path.Root("cells"),
	}
	for text, want := range map[string]string{
		"nothing of it":                             "",
		"hostId must be a UUID":                     "host_id",
		"The field \"hostId\" must be a UUID.":      "host_id",
		"hostID must be a UUID":                     "",
		"the name, or hostId, is odd":               "name",
		"unnamed":                                   "",
		"repos[2] is no URI":                        "repos[2]",
		"repos[0].url is no URI":                    "repos[0].url",
		"matrix[0].cell[9] is odd":                  "cells[9]",
		"matrix[9].cell[0] is odd":                  "cells[0]",
		"repositories[3].url must be a URI":         "repositories[3].url",
		"The field \"repositories[3].url\" is odd.": "repositories[3].url",
		"repositories[3].prUrl is odd":              "repositories[3].pr_url",
		"repositories[3].env[10].customCIModel":     "repositories[3].env[10].custom_ci_model",
		"source.templateId does not exist":          "source.template",
		"source.sourceComputerId is needed":         "source.source_computer_id",
		"source":                                    "source",
		"templateId":                                "elsewhere",
		"body.repositories[0].url is odd":           "repositories[0].url",
		"changes.name is odd":                       "title",
		"matrix[4].cell[5].width is odd":            "cells[5].width",
		"The name.":                                 "name",
		"In repos[1].":                              "repos[1]",
		"repos[99999999999]":                        "repos",
		"provider: managed-z is not available":      "provider_type",

		"The thing \"source-repositories\" does not support scripts.":       "",
		"The thing \"a name\" does not support repositories.":               "repositories",
		"\"name\" and \"hostId\" exclude each other.":                       "name",
		"The build of \"hostId 7\" failed: \"body.repos[1]\" is odd.":       "repos[1]",
		"The thing \"a \\\"name\\\" b\" does not exist; correct hostId.":    "host_id",
		"The things \"name-1\" and \"my repos\" exist; provider is needed.": "provider_type",
	} {
		got := ""
		if at, ok := known.Find(text); ok {
			got = at.String()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestSnakeCase(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"name": "name", "hostId": "host_id", "prUrl": "pr_url", "customCIModel": "custom_ci_model", "cpuUsedPct": "cpu_used_pct",
		"relayClientUrl": "relay_client_url", "ownerID": "owner_id", "URL": "url", "already_so": "already_so", "step2Name": "step2_name",
	} {
		if got := SnakeCase(field); got != want {
			t.Errorf("%s: got %s, want %s", field, got, want)
		}
	}
}
