package trials

var roleTrials = []Trial{{
	Name: "roles",
	Rules: []string{
		"get-global-usage-limit", "get-user-usage-limits", "set-user-usage-limits", "list-enterprise-control-history", "list-members",
		"remove-member", "query-my-cost", "create-environment",
	},
	run: func(x *exam) {
		them, _, ok := x.asAccount()
		if !ok {
			return
		}
		x.reserved("get-global-usage-limit", "reading the global limit", x.get(globalLimit), them.get(globalLimit))
		x.reserved("get-user-usage-limits", "reading the limits", x.get(userLimits), them.get(userLimits))
		x.reserved("list-enterprise-control-history", "reading the history", x.get(history), them.get(history))
		x.reserved("list-members", "listing the members", x.get(members), them.get(members))

		// Nobody has this address, so that nothing changes whoever may do this.
		nobody := x.lab.NewName("nobody") + "@example.invalid"
		limit := object{"users": []object{{"email": nobody, "limit": nil}}}
		x.reserved("set-user-usage-limits", "setting a limit of nobody", x.put(userLimits, limit), them.put(userLimits, limit))
		if x.removeMember(nobody).status == 404 {
			x.answers("remove-member", "removing nobody with a service account's key", them.removeMember(nobody), 403)
		}
		cost := "/api/v1/analytics/cost/me/query?queryKey=headline_daily&" + days(-2, -2)
		x.reserved("query-my-cost", "asking about the own credits", x.get(cost), them.get(cost))

		const what = "an environment of the organization, created by a service account"
		theirs := them.post(environments, object{"name": x.lab.NewName("environment"), "scope": "organization", "repositories": []any{}})
		if theirs.ok() {
			x.laterEnvironment(theirs.record().Text("id"))
		}
		x.denies("create-environment", what, theirs)
	},
}}
