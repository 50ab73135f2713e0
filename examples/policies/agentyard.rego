# Rules for plans of the Agentyard provider, as `terraform show -json` prints them.
# `deny` has a message for each object that breaks a rule. settings.rego has the limits.
package agentyard

# What each resource will be. Deleted resources have no values.
planned contains r if {
	some r in input.resource_changes
	r.mode == "managed"
	r.change.after != null
}

# The state, which show prints without a file, has no planned values.
deny contains "The input is not a plan." if not input.planned_values

# A computer belongs to a service account. The ID of a new account is not known yet.
deny contains sprintf("Set service_account_id: %s.", [r.address]) if {
	some r in planned
	r.type in {"agentyard_computer", "agentyard_computer_fleet"}
	object.get(r.change.after, "service_account_id", null) == null
	not r.change.after_unknown.service_account_id
}

# A key expires. Without expires_in, it may live forever. Plans do not show ephemeral keys: check their expires_in in the code.
deny contains sprintf("Limit expires_in to %dd: %s.", [settings.max_key_days, r.address]) if {
	some r in planned
	r.type == "agentyard_api_key"
	not expires_soon(r.change.after)
}

hours := {"w": 168, "d": 24, "h": 1, "m": 1 / 60, "s": 1 / 3600}

# A duration can have several units, such as "1w12h".
expires_soon(key) if {
	regex.match(`^([0-9]+(\.[0-9]+)?[wdhms])+$`, key.expires_in)
	parts := regex.find_all_string_submatch_n(`([0-9.]+)([wdhms])`, key.expires_in, -1)
	sum([n | some part in parts; n := to_number(part[1]) * hours[part[2]]]) <= settings.max_key_days * 24
}

# A usage limit is known, and not too high.
deny contains sprintf("Limit above %d: %s.", [settings.max_limit, r.address]) if {
	some r in planned
	regex.match("^agentyard_(global|user)_usage_limits?$", r.type)
	not limited(r.change)
}

limited(change) if {
	is_number(change.after.limit)
	change.after.limit <= settings.max_limit
}

limited(change) if {
	object.get(change.after_unknown, "limits", {}) == {}
	every limit in change.after.limits {
		limit <= settings.max_limit
	}
}

# Nothing is destroyed or replaced unless allow_destroy has its address.
deny contains sprintf("Not in allow_destroy: %s.", [r.address]) if {
	some r in input.resource_changes
	r.type in {
		"agentyard_computer",
		"agentyard_computer_fleet",
		"agentyard_global_usage_limit",
		"agentyard_service_account",
		"agentyard_user_usage_limit",
		"agentyard_user_usage_limits",
	}
	destroys(r.change)
	not r.address in settings.allow_destroy
}

destroys(change) if "delete" in change.actions

destroys(change) if change.after.quantity < change.before.quantity # A smaller fleet.

destroys(change) if { # A fleet that may become smaller.
	change.after_unknown.quantity
	"update" in change.actions
}

destroys(change) if { # A member without a limit.
	"update" in change.actions
	some email, _ in change.before.limits
	not lower(email) in {lower(kept) | some kept, _ in change.after.limits}
}

# The same applies to members who leave with their invitation.
deny contains sprintf("Not in allow_destroy: %s.", [r.address]) if {
	some r in input.resource_changes
	r.type == "agentyard_member_invitation"
	destroys(r.change)
	r.change.before.remove_on_destroy
	not r.address in settings.allow_destroy
}

# The same applies to operations that remove something, as resources and as actions.
deny contains sprintf("Not in allow_destroy: %s.", [address]) if {
	some address in removals
	not address in settings.allow_destroy
}

removes := {"agentyard_api_key_revoke", "agentyard_member_remove"}

removals contains r.address if {
	some r in input.resource_changes
	r.type in removes
	"create" in r.change.actions
}

removals contains a.address if {
	some a in input.action_invocations
	a.type in removes
}

# In production, what agents work on is protected.
deny contains sprintf("Set deletion_protection: %s.", [r.address]) if {
	settings.production
	some r in planned
	r.type in {"agentyard_computer", "agentyard_computer_fleet", "agentyard_service_account"}
	not r.change.after.deletion_protection
}

# The checks of the configuration hold. Terraform itself only warns.
deny contains sprintf("Failed: %s.", [c.address.to_display]) if {
	some c in input.checks
	c.status in {"fail", "error"}
}
