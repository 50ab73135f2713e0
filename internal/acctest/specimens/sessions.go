package specimens

// settings are all settings that do not exclude another one, with changes.
func settings(changes Values) Values {
	return with(Values{
		"model": "model-light", "reasoning_effort": "low", "interaction_mode": "spec", "autonomy_level": "low", "spec_mode_model": "model-light", "spec_mode_reasoning_effort": "low",
		"provider_lock": "kind", "provider_lock_timestamp": "2026-03-01T00:00:00Z", "api_provider_lock": "api", "setup_profile_id": "profile",
		"tags":             []any{Values{"name": "a", "metadata": Values{"k": "v", "empty": ""}}, Values{"name": "b"}},
		"worktree":         Values{"repo_root": "/srv", "branch": "main", "lifecycle": "ephemeral", "path": "/srv/w", "parent_worktree_path": "/srv/p", "removed_at": "2026-03-01T00:00:00Z"},
		"enabled_tool_ids": []any{"read", "write"}, "disabled_tool_ids": []any{"execute"}, "restrict_tool_ids": []any{"read", "write", "execute"},
		"compaction_model": "custom:small", "compaction_threshold_check_enabled": true, "tool_execution_mode": "direct_only", "allow_subagents_in_scripts": false,
	}, changes)
}

func session(settings Values) Values {
	return Values{"computer_id": "$computer", "cwd": "/srv", "system_prompt_append": "Be brief.", "session_settings": settings}
}

var sessionResources = []Resource{{
	Type:    "agentyard_session",
	Least:   Values{"computer_id": "$computer", "session_settings": Values{"tags": []any{Values{"name": "$name"}}}},
	Changed: Values{"computer_id": "$computer", "session_settings": Values{"tags": []any{Values{"name": "$name"}, Values{"name": "b"}}}},
	Full:    session(settings(nil)),
	FullChanged: session(settings(Values{
		"model": "model-standard", "reasoning_effort": "high", "interaction_mode": "auto", "autonomy_level": "high", "spec_mode_model": "model-standard", "spec_mode_reasoning_effort": "high",
		"provider_lock": "other", "provider_lock_timestamp": "2026-02-01T00:00:00Z", "api_provider_lock": "other", "setup_profile_id": "other",
		"tags":             []any{Values{"name": "c", "metadata": Values{"k": "w"}}},
		"worktree":         Values{"repo_root": "/opt", "branch": "next", "lifecycle": "persistent", "path": "/opt/w", "parent_worktree_path": "/opt/p", "removed_at": "2026-02-01T00:00:00Z"},
		"enabled_tool_ids": []any{}, "disabled_tool_ids": []any{"write"}, "restrict_tool_ids": []any{"read"},
		"compaction_model": "model-light", "compaction_threshold_check_enabled": false,
	})),
	More: map[string][]Values{
		"archived": {
			{"computer_id": "$computer", "session_settings": Values{"archived_at": "2026-03-01T00:00:00Z", "tags": []any{Values{"name": "a"}}}},
			{"computer_id": "$computer", "session_settings": Values{"archived_at": "2026-02-01T00:00:00Z", "tags": []any{}}},
		},
		"without settings": {
			{"computer_id": "$computer", "system_prompt": "Be kind."},
			{"computer_id": "$computer", "system_prompt": "Be kind.", "session_settings": Values{"model": "model-light"}},
		},
	},
	Exists:   Values{"computer_id": "$machine", "session_settings": Values{"model": "model-thinking"}},
	Identity: []string{"id", "computer_id"}, NotImported: []string{"cwd", "system_prompt", "system_prompt_append"},
	Listing:  Listing{Path: "/api/v0/sessions?computerId=$computer", Rows: "sessions", ID: "sessionId", Has: []string{`"name":"$name"`}},
	Nameless: true,
	Creates:  "createSession",
}}

const manyMessages = "A session may have thousands of messages."

var sessionData = []Read{
	{Type: "agentyard_session", Values: Values{"id": "$session"}, Shows: `self.id == "$session"`},
	{Type: "agentyard_session", Name: "on its computer", Values: Values{"id": "$session", "computer_id": "$computer"}, NotAtService: "It may be on another one."},
	{Type: "agentyard_session_children", Values: Values{"session_id": "$session"}},
	{Type: "agentyard_session_messages", Values: Values{"session_id": "$session"}, NotAtService: manyMessages},
	{Type: "agentyard_session_messages", Name: "at most one", Values: Values{"session_id": "$session", "max_results": 1}},
	{Type: "agentyard_session_messages", Name: "of a role", Values: Values{"session_id": "$session", "roles": []any{"assistant"}, "max_results": 1}, NotAtService: manyMessages},
	{Type: "agentyard_session_messages", Name: "in pages", Values: Values{"session_id": "$session"}, Paged: true, NotAtService: manyMessages},
	{Type: "agentyard_sessions", Values: Values{"max_results": 20}},
	{Type: "agentyard_sessions", Name: "of a computer", Values: Values{"computer_id": "$computer", "max_results": 10}, NotAtService: "The computer may have none."},
	{Type: "agentyard_sessions", Name: "in pages", Paged: true, NotAtService: "There may be thousands."},
}

var sessionLists = []Read{
	{Type: "agentyard_session", Shows: "$session"},
	{Type: "agentyard_session", Name: "of a computer", Values: Values{"computer_id": "$computer"}, NotAtService: "The computer may have none."},
}

const prompt = "Reply with the word OK, and do nothing else."

var sessionOperations = []Operation{
	{
		Type: "agentyard_session_answer", IsNoAction: true, NotAtService: "It reads the answer to the message of the operation session_message.",
		Values: Values{"session_id": "$conversation", "message_id": "$message"}, Again: Values{"session_id": "$conversation_2", "message_id": "$message_2"},
		Request: "listSessionMessages", Results: map[string]string{"text": prompt, "answered_at": "*"},
	},
	{Type: "agentyard_session_interrupt", Values: Values{"session_id": "$conversation"}, Request: "interruptSession", Results: map[string]string{"status": "idle"}},
	{
		Type: "agentyard_session_message", Values: Values{"session_id": "$conversation", "text": prompt}, Equal: []Values{{"files": []any{}}, {"images": []any{}}},
		Request: "sendSessionMessage", Results: map[string]string{"sent_at": "*"},
	},
	{
		Type: "agentyard_session_message", Name: "with files", Request: "sendSessionMessage", NotAtService: "The answer would be the same.",
		Values: Values{"session_id": "$conversation", "text": prompt, "files": []any{Values{"path": "$folder/a.txt"}}, "images": []any{Values{"path": "$folder/a.png"}}},
		Equal:  []Values{{"files": []any{Values{"path": "$folder/a.txt", "media_type": "text/plain"}}}},
	},
}
