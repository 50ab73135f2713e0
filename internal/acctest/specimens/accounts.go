package specimens

// NonExistent is the error of the import of an ID that nothing has.
const NonExistent = `Cannot import(.|\n)*No\s+[\w\s]+\s+with\s+the\s+ID(.|\n)*exists`

const (
	unset = `Cannot import(.|\n)*is\s+set(.|\n)*apply\s+without\s+the\s+import`
	keyID = `(?s)Invalid import ID.*service_account_id/key_id`
)

var accountResources = []Resource{
	{
		Type:  "agentyard_service_account",
		Least: Values{"name": "$name"}, Changed: Values{"name": "$name", "description": "builds"},
		Full:        Values{"name": "$name-b", "description": "builds", "status": "inactive"},
		FullChanged: Values{"name": "$name-b", "description": "tests", "status": "active"},
		Exists:      Values{"name": "ci"},
		Identity:    []string{"id"},
		Listing:     Listing{Path: "/api/v0/service-accounts", Rows: "serviceAccounts", Has: []string{`"name":"$name"`}},
		Creates:     "createServiceAccount",
	},
	{
		Type:    "agentyard_api_key",
		Least:   Values{"service_account_id": "$account", "name": "$name"},
		Changed: Values{"service_account_id": "$account", "name": "$name", "rotation": Values{"triggers": Values{"v": "1"}}}, // A rotation changes the identity.
		Full: Values{
			"service_account_id": "$account", "name": "$name", "expires_in": "30d",
			"rotation": Values{"triggers": Values{"v": "1"}, "interval": "10d", "before_expiry": "5d", "grace_period_minutes": 5},
		},
		FullChanged: Values{
			"service_account_id": "$account", "name": "$name", "expires_in": "40d",
			"rotation": Values{"triggers": Values{"v": "2"}, "interval": "12d", "before_expiry": "6d", "grace_period_minutes": 6},
		},
		More:     map[string][]Values{"until a day": {{"service_account_id": "$account", "name": "$name", "expires_at": "2026-06-01T00:00:00Z"}}},
		Exists:   Values{"service_account_id": "$account", "name": "pipeline"},
		Identity: []string{"id", "service_account_id"}, ImportID: "{service_account_id}/{id}",
		NotImported: []string{"key", "expires_in", "rotation", "previous_key_id", "rotated_at"}, ImportPlansAnUpdate: true,
		NoImport: map[string]string{
			"": keyID, "../key_1": keyID, "key_1": keyID, "/key_1": keyID, "a/b/c": keyID,
			"$account/key_absent": NonExistent, "sa_absent/key_absent": NonExistent,
		},
		Listing:   Listing{Path: "/api/v0/service-accounts/$account/api-keys", Rows: "apiKeys", Has: []string{`"name":"$name"`, `"isRevoked":false`}},
		Creates:   "createApiKey",
		IfChanged: "-", // Its change is a rotation; TestCreateAPIKey covers a key that somebody else rotated.
		IfDeleted: "update",
	},
}

var accountData = []Read{
	{Type: "agentyard_service_account", Values: Values{"id": "$account"}, Shows: `self.name == "$account_name"`},
	{Type: "agentyard_service_account", Name: "by name", Values: Values{"name": "$account_name"}, Shows: `self.id == "$account"`},
	{Type: "agentyard_service_accounts", Shows: `contains(self.service_accounts[*].id, "$account")`},
	{Type: "agentyard_api_keys", Values: Values{"service_account_id": "$account"}, Shows: `contains(self.api_keys[*].id, "$key")`},
}

var accountLists = []Read{
	{Type: "agentyard_service_account", Shows: "$account"},
	{Type: "agentyard_api_key", Values: Values{"service_account_id": "$account"}, Shows: "$key"},
	{Type: "agentyard_api_key", Name: "with revoked ones", Values: Values{"service_account_id": "$account", "include_revoked": true}, Shows: "$key"},
	{Type: "agentyard_api_key", Name: "of all", NotAtService: "Other tests create and delete accounts meanwhile."},
}

var accountEphemerals = []Read{{Type: "agentyard_api_key", Values: Values{"service_account_id": "$account", "name": "$name", "expires_in": "30m"}, Shows: "id"}}

var accountOperations = []Operation{{Type: "agentyard_api_key_revoke", Values: Values{"service_account_id": "$account", "key_id": "$leaked"}, Request: "revokeApiKey"}}
