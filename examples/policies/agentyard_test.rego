package agentyard_test

import data.agentyard

settings := {"production": false, "max_key_days": 90, "max_limit": 1000, "allow_destroy": []}

# A resource with these values, as in a plan that creates it.
resource(type, after) := {
	"address": sprintf("%s.x", [type]),
	"mode": "managed",
	"type": type,
	"change": {"actions": ["create"], "before": null, "after": after, "after_unknown": {}},
}

unknown(type, names) := object.union(resource(type, {}), {"change": {"after_unknown": names}})

computer := {"service_account_id": "sa"}

# What the rules say about resources, with other settings.
denied(resources, changed) := messages if {
	messages := agentyard.deny with input as {"planned_values": {}, "resource_changes": resources}
		with data.agentyard.settings as object.union(settings, changed)
}

test_empty_plan if denied([], {}) == set()

test_no_plan if {
	every other in [{}, {"format_version": "1.0"}, {"format_version": "1.0", "values": {"root_module": {}}}] {
		agentyard.deny == {"The input is not a plan."} with input as other
	}
}

test_owner if {
	denied([resource("agentyard_computer", computer)], {}) == set()
	denied([unknown("agentyard_computer", {"service_account_id": true})], {}) == set()
	denied([resource("agentyard_computer_fleet", {})], {}) == {"Set service_account_id: agentyard_computer_fleet.x."}
}

test_expiry if {
	every duration in ["90d", "12w6d", "2160h", "0.5h30m"] {
		denied([resource("agentyard_api_key", {"expires_in": duration})], {}) == set()
	}
	every duration in ["91d", "12w6d1s", "12w6d1m", "2160.5h", "9999.h", "x", "", null] {
		denied([resource("agentyard_api_key", {"expires_in": duration})], {}) == {"Limit expires_in to 90d: agentyard_api_key.x."}
	}
	count(denied([unknown("agentyard_api_key", {"expires_in": true})], {})) == 1
	denied([resource("agentyard_api_key", {"expires_in": "91d"})], {"production": false, "max_key_days": 91}) == set()
}

test_limit if {
	every type in ["agentyard_global_usage_limit", "agentyard_user_usage_limit"] {
		denied([resource(type, {"limit": 1000})], {}) == set()
		count(denied([resource(type, {"limit": 1001})], {})) == 1
		count(denied([resource(type, {"limit": null})], {})) == 1
		count(denied([unknown(type, {"limit": true})], {})) == 1
	}
}

test_limits_of_all_users if {
	type := "agentyard_user_usage_limits"
	denied([resource(type, {"limits": {"a@example.com": 1000}})], {}) == set()
	denied([resource(type, {"limits": {"a@example.com": 1, "b@example.com": 1001}})], {}) == {"Limit above 1000: agentyard_user_usage_limits.x."}
	count(denied([unknown(type, {"limits": true})], {})) == 1
	some_unknown := object.union(resource(type, {"limits": {"a@example.com": 1}}), {"change": {"after_unknown": {"limits": {"b@example.com": true}}}})
	count(denied([some_unknown], {})) == 1
}

test_destroy if {
	every type in ["agentyard_computer", "agentyard_computer_fleet", "agentyard_global_usage_limit", "agentyard_service_account", "agentyard_user_usage_limit", "agentyard_user_usage_limits"] {
		r := object.union(resource(type, null), {"change": {"actions": ["delete"], "before": computer}})
		denied([r], {}) == {sprintf("Not in allow_destroy: %s.x.", [type])}
		denied([r], {"allow_destroy": [r.address]}) == set()
	}
	replaced := object.union(resource("agentyard_computer", computer), {"change": {"actions": ["delete", "create"]}})
	count(denied([replaced], {})) == 1
	other := object.union(resource("agentyard_session", null), {"change": {"actions": ["delete"]}})
	denied([other], {}) == set()
}

test_removals if {
	every type in ["agentyard_api_key_revoke", "agentyard_member_remove"] {
		again := object.union(resource(type, {}), {"change": {"actions": ["delete", "create"]}})
		every r in [resource(type, {}), again] {
			denied([r], {}) == {sprintf("Not in allow_destroy: %s.x.", [type])}
			denied([r], {"allow_destroy": [r.address]}) == set()
		}
		every actions in [["no-op"], ["delete"]] {
			denied([object.union(again, {"change": {"actions": actions}})], {}) == set()
		}
		address := sprintf("action.%s.x", [type])
		invoked := {"planned_values": {}, "action_invocations": [{"address": address, "type": type}]}
		agentyard.deny == {sprintf("Not in allow_destroy: %s.", [address])} with input as invoked
	}
	harmless := {"planned_values": {}, "action_invocations": [{"address": "action.agentyard_computer_restart.x", "type": "agentyard_computer_restart"}]}
	agentyard.deny == set() with input as harmless
}

test_member_leaves_with_invitation if {
	invitation := object.union(resource("agentyard_member_invitation", null), {"change": {"actions": ["delete"], "before": {"remove_on_destroy": true}}})
	denied([invitation], {}) == {"Not in allow_destroy: agentyard_member_invitation.x."}
	denied([object.union(invitation, {"change": {"before": {"remove_on_destroy": false}}})], {}) == set()
}

test_smaller_fleet if {
	fleet := object.union(
		resource("agentyard_computer_fleet", object.union(computer, {"quantity": 2})),
		{"change": {"actions": ["update"], "before": {"quantity": 3}}},
	)
	denied([fleet], {}) == {"Not in allow_destroy: agentyard_computer_fleet.x."}
	denied([object.union(fleet, {"change": {"before": {"quantity": 2}}})], {}) == set()
	not_known := {"change": {"after": computer, "after_unknown": {"quantity": true}}}
	denied([object.union(object.remove(fleet, ["change"]), {"change": {"actions": ["update"], "before": {"quantity": 3}, "after": computer, "after_unknown": {"quantity": true}}})], {}) == {"Not in allow_destroy: agentyard_computer_fleet.x."}
	denied([object.union(resource("agentyard_computer_fleet", computer), not_known)], {}) == set() # It is new.
}

test_member_without_limit if {
	limits := object.union(
		resource("agentyard_user_usage_limits", {"limits": {"A@example.com": 1}}),
		{"change": {"actions": ["update"], "before": {"limits": {"a@example.com": 1}}}},
	)
	denied([limits], {}) == set()
	denied([object.union(limits, {"change": {"before": {"limits": {"b@example.com": 2}}}})], {}) == {"Not in allow_destroy: agentyard_user_usage_limits.x."}
	not_known := object.union(unknown("agentyard_user_usage_limits", {"limits": true}), {"change": {"actions": ["update"], "before": {"limits": {"a@example.com": 1}}}})
	count(denied([not_known], {})) == 2
}

test_protection if {
	every type in ["agentyard_computer", "agentyard_computer_fleet", "agentyard_service_account"] {
		denied([resource(type, object.union(computer, {"deletion_protection": true}))], {"production": true}) == set()
		every after in [computer, object.union(computer, {"deletion_protection": false})] {
			denied([resource(type, after)], {"production": true}) == {sprintf("Set deletion_protection: %s.x.", [type])}
			denied([resource(type, after)], {}) == set()
		}
		not_known := object.union(resource(type, computer), {"change": {"after_unknown": {"deletion_protection": true}}})
		denied([not_known], {"production": true}) == {sprintf("Set deletion_protection: %s.x.", [type])}
	}
}

test_checks if {
	every status in ["fail", "error"] {
		messages := agentyard.deny with input as {"planned_values": {}, "checks": [{"address": {"to_display": "check.controls"}, "status": status}]}
		messages == {"Failed: check.controls."}
	}
	every status in ["pass", "unknown"] {
		messages := agentyard.deny with input as {"planned_values": {}, "checks": [{"address": {"to_display": "check.controls"}, "status": status}]}
		messages == set()
	}
}
