package specimens

const userLimits = "/api/v0/organization/usage/limits/users"

var organizationResources = []Resource{
	{
		Type:  "agentyard_global_usage_limit",
		Least: Values{"limit": "$lower"}, Changed: Values{"limit": "$higher"},
		Exists:   Values{"limit": 10_000_000},
		Identity: []string{"id"},
		NoImport: map[string]string{
			"acme":         `Invalid import ID(.|\n)*import\s+ID(.|\n)*always\s+"organization",\s+not\s+"acme"`,
			"organization": unset,
		},
		NoIdentity: Values{"id": "acme"},
		Listing:    Listing{Path: "/api/v0/organization/usage/limits/global", ID: "limit", Has: []string{"$higher"}},
	},
	{
		Type:  "agentyard_member_invitation",
		Least: Values{"email": "$member"}, Changed: Values{"email": "$member", "role": "manager"},
		Full: Values{"email": "$email", "role": "manager"}, FullChanged: Values{"email": "$email", "role": "user"},
		Exists:   Values{"email": "avery@agentyard.example"},
		Identity: []string{"email"}, NotImported: []string{"role", "status"}, ImportPlansAnUpdate: true,
		NoImport: map[string]string{
			"nobody@agentyard.example": `Nobody\s+has\s+joined(.|\n)*cannot\s+be\s+imported`,
			"avery":                    `Invalid import ID(.|\n)*member's\s+email\s+address(.|\n)*"avery"`,
		},
		NoIdentity: Values{"email": "avery"}, IfChanged: "none", IfDeleted: "-", // A role that the configuration does not set; a destroy keeps the member.
		NotAtService: "TestAccInvitation does it with an address that nobody has.",
	},
	{
		Type:  "agentyard_user_usage_limit",
		Least: Values{"email": "$member", "limit": "$lower"}, Changed: Values{"email": "$member", "limit": "$higher"},
		Exists:   Values{"email": "avery@agentyard.example", "limit": 20_000_000},
		Identity: []string{"email"},
		NoImport: map[string]string{
			"nobody@agentyard.example": NonExistent,
			"$member":                  NonExistent, // Only the global limit applies to this member.
			"avery":                    `Invalid import ID(.|\n)*member's\s+email\s+address,\s+such\s+as\s+avery@(.|\n)*"avery"`,
			"@agentyard.example":       `Invalid import ID(.|\n)*member's\s+email\s+address`,
			"avery@agentyard.example,blake@agentyard.example": `Invalid import ID(.|\n)*member's\s+email\s+address`,
		},
		NoIdentity: Values{"email": "avery"},
		Listing:    Listing{Path: userLimits, Rows: "userLimits", ID: "limit", Has: []string{"$higher"}},
	},
	{
		Type:  "agentyard_user_usage_limits",
		Least: Values{"limits": Values{"$member": "$lower"}}, Changed: Values{"limits": Values{"$member": "$higher"}},
		Exists:     Values{"limits": Values{"avery@agentyard.example": 20_000_000}},
		Identity:   []string{"id"},
		NoImport:   map[string]string{"acme": `Invalid import ID(.|\n)*import\s+ID(.|\n)*always\s+"organization",\s+not\s+"acme"`},
		NoIdentity: Values{"id": "acme"},
		Listing:    Listing{Path: userLimits, Rows: "userLimits", ID: "limit", Has: []string{"$higher"}}, IfDeleted: "update",
		NotAtService: "It would remove the limits of all other members. That of one member has the same operations.",
	},
}

const twoRevisions = "A service's settings may never have changed."

var organizationData = []Read{
	{Type: "agentyard_enterprise_control_history", Values: Values{"max_results": 2}},
	{Type: "agentyard_enterprise_control_history", Name: "of revisions", Values: Values{"since_revision": 1}, NotAtService: twoRevisions},
	{Type: "agentyard_enterprise_control_history", Name: "in pages", Paged: true, NotAtService: twoRevisions},
	{Type: "agentyard_enterprise_controls"},
	{Type: "agentyard_member", Values: Values{"email": "$email"}, Shows: `self.id == "$member_id"`},
	{Type: "agentyard_members", Values: Values{"max_results": 100}, Shows: "length(self.members) > 0"},
	{Type: "agentyard_members", Name: "in pages", Paged: true, NotAtService: "The size of pages is the emulator's."},
	{Type: "agentyard_usage_limits"},
}

var organizationLists = []Read{{Type: "agentyard_member_invitation", Shows: "$member_id"}, {Type: "agentyard_user_usage_limit"}}

var organizationOperations = []Operation{{
	Type: "agentyard_member_remove", Values: Values{"email": "blake@agentyard.example"}, Equal: []Values{{"email": "Blake@Agentyard.example"}}, Request: "removeMember",
	NotAtService: "TestAccInvitation removes nobody but whom it has invited.",
}}
