package specimens

import "mime"

const (
	// host is a host ID, and any other UUID.
	host    = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
	fleetID = `Invalid import ID(.|\n)*ACCOUNT_ID/build(.|\n)*`
)

var computerListing = Listing{Path: "/api/v0/computers?includeUnlisted=true", Also: "/api/v0/computers?serviceAccountId=$account", Rows: "computers", Has: []string{`"name":"$name`}}

// computer returns the arguments of a computer with every argument.
func computer(name string, more Values) Values {
	return with(Values{
		"name": name, "provider_type": "managed-b", "repos": []any{"https://git.example/acme/app"}, "auto_install_deps": true, "service_account_id": "$account",
		"source": Values{"kind": "computer", "source_computer_id": "$managed"},
	}, more)
}

func with(v, more Values) Values {
	for name := range more {
		v[name] = more[name]
	}
	return v
}

var template = Values{
	"kind": "template", "template_id": "template-base", "is_listed": true, "software_draft": Values{"workstream_id": host, "creation_session_id": host, "first_turn_id": host},
}

var unlisted = Values{"kind": "template", "template_id": "template-base", "is_listed": false}

func leastFleet(quantity int, more Values) Values {
	return with(Values{"name_prefix": "$name", "quantity": quantity, "provider_type": "$fleet_provider"}, more)
}

func fleet(quantity int) Values {
	return Values{"name_prefix": "$name", "quantity": quantity, "provider_type": "managed-b", "repos": []any{"https://git.example/acme/app"}, "auto_install_deps": true, "service_account_id": "$account"}
}

var computerResources = []Resource{
	{
		Type:    "agentyard_computer",
		Least:   Values{"name": "$name", "provider_type": "$provider", "remote_user": "$user", "host_id": "$host"},
		Changed: Values{"name": "$name-b", "provider_type": "$provider", "remote_user": "$user", "host_id": "$host"},
		Full:    computer("$name", nil), FullChanged: computer("$name-b", Values{"host_id": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "remote_user": "dev"}),
		More: map[string][]Values{
			"registered":      {{"name": "registered", "provider_type": "byom", "host_id": "6ba7b810-9dad-41d1-80b4-00c04fd430c8", "remote_user": "dev"}},
			"from a template": {{"name": "templated", "source": template}, {"name": "renamed", "source": template}},
			"unlisted":        {{"name": "unlisted", "source": unlisted}, {"name": "renamed", "source": unlisted}},
		},
		Exists:   Values{"name": "workstation", "provider_type": "byom", "host_id": host},
		Identity: []string{"id"}, NotImported: []string{"auto_install_deps", "repos", "source.software_draft"},
		Listing: computerListing, Creates: "createComputer",
	},
	{
		Type: "agentyard_computer", Name: "that the service runs",
		Least:    Values{"name": "$name", "provider_type": "$managed_provider", "remote_user": "$user"},
		Changed:  Values{"name": "$name-b", "provider_type": "$managed_provider", "remote_user": "$user"},
		Identity: []string{"id"}, Listing: computerListing,
	},
	{
		Type:  "agentyard_computer_fleet",
		Least: leastFleet(1, nil), Changed: leastFleet(2, nil),
		Full: fleet(1), FullChanged: fleet(2),
		Exists:   Values{"name_prefix": "build", "quantity": 2},
		Identity: []string{"name_prefix", "service_account_id"}, NotImported: []string{"auto_install_deps", "repos"},
		NoImport: map[string]string{
			"": fleetID + `""`, "../web": fleetID + `"../web"`, "a/b/c": fleetID + `"a/b/c"`, "/web": fleetID + `"/web"`, "a/": fleetID + `"a/"`, "we b": fleetID + `"we b"`,
			"web": NonExistent, "unknown/web": NonExistent,
		},
		Listing: Listing{Path: computerListing.Path, Also: computerListing.Also, Rows: "computers", Has: []string{`"name":"$name-`}},
		Creates: "bulkCreateComputers", IfChanged: "none", IfDeleted: "update", // Another slot; a part of it is gone.
	},
	{
		Type: "agentyard_computer_fleet", Name: "of an account",
		Least: leastFleet(1, Values{"service_account_id": "$account"}), Changed: leastFleet(2, Values{"service_account_id": "$account"}),
		Identity:  []string{"name_prefix", "service_account_id"},
		Listing:   Listing{Path: "/api/v0/computers?serviceAccountId=$account", Rows: "computers", Has: []string{`"name":"$name-`}},
		IfChanged: "none", IfDeleted: "update",
	},
}

var computerData = []Read{
	{Type: "agentyard_computer", Values: Values{"id": "$machine"}, Shows: `self.name == "$machine_name"`},
	{Type: "agentyard_computer", Name: "by name", Values: Values{"name": "$machine_name"}, Shows: `self.id == "$machine"`},
	{Type: "agentyard_computer", Name: "of an account", Values: Values{"name": "robot-1", "service_account_id": "$account"}, NotAtService: "The account has no computer."},
	{Type: "agentyard_computer_metrics", Values: Values{"computer_id": "$measured", "start": "$start"}},
	{Type: "agentyard_computer_providers"},
	{Type: "agentyard_computers", Values: Values{"include_unlisted": true, "include_provisioning_steps": true}, Shows: `contains(self.computers[*].id, "$machine")`},
	{Type: "agentyard_computers", Name: "of a host", Values: Values{"host_id": host, "include_unlisted": true}, NotAtService: "Another host has the ID."},
	{Type: "agentyard_computers", Name: "of an account", Values: Values{"service_account_id": "$account"}},
}

var computerLists = []Read{
	{Type: "agentyard_computer", Values: Values{"include_unlisted": true}, Shows: "$machine"},
	{Type: "agentyard_computer", Name: "of an account", Values: Values{"service_account_id": "$account"}},
}

var computerEphemerals = []Read{
	{Type: "agentyard_computer_file_download", Values: Values{"computer_id": "$managed", "file_name": "$file"}, Shows: "file_name"},
	{
		Type: "agentyard_computer_file_download", Name: "of a session", NotAtService: "No session has the file.",
		Values: Values{"computer_id": "$computer", "file_name": "data.txt", "session_id": "$session", "content_type": "text/plain"},
	},
}

var computerOperations = []Operation{
	{Type: "agentyard_computer_activity", Values: Values{"computer_id": "$managed"}, Request: "recordComputerActivity", Results: map[string]string{"last_active_at": "*"}},
	{
		Type: "agentyard_computer_file_upload", Values: Values{"computer_id": "$managed", "file_name": "$name.txt", "content": "hello"}, Again: Values{"file_name": "b.txt"},
		Equal: []Values{{"content_type": mime.TypeByExtension(".txt")}}, Request: "completeFileUpload", Results: map[string]string{"path": "*"},
	},
	{
		Type: "agentyard_computer_install_deps", Values: Values{"computer_id": "$managed"}, Request: "installComputerDeps", Results: map[string]string{"install_session_id": "*"},
		NotAtService: "TestAccInstallDeps needs a computer with repositories.",
	},
	// At a service, nothing is changed on a registered machine.
	{Type: "agentyard_computer_refresh", Values: Values{"computer_id": "$refreshed"}, Request: "refreshComputer", Results: map[string]string{"configured": "*", "secrets_configured": "*"}},
	{Type: "agentyard_computer_restart", Values: Values{"computer_id": "$managed"}, Request: "restartComputer", Results: map[string]string{"was_restarted": "*"}},
}
