package trials

import (
	"cmp"
	"time"
)

// newAccount creates a service account. It returns "" if that is not possible.
func (x *exam) newAccount() string {
	a := x.create(accounts, object{"name": x.lab.NewName("account")})
	if !a.ok() {
		x.blocked("creating a service account", a)
	}
	return a.record().Text("id")
}

var accountTrials = []Trial{
	{
		Name: "service accounts",
		Rules: []string{
			"create-service-account",             // A creation finds what a lost response made by its name, and the error of 409 names the namesake.
			"update-service-account-description", // A description that is removed from the configuration is sent as an empty text.
		},
		run: func(x *exam) {
			name := x.lab.NewName("account")
			first := x.create(accounts, object{"name": name, "description": "The first."})
			if !first.ok() {
				x.blocked("creating a service account", first)
				return
			}
			x.answers("create-service-account", "a second account of one name", x.create(accounts, object{"name": name}), 409)
			id := first.record().Text("id")
			before := x.get(account, id)
			if before.record().Text("description") != "" && x.patch(account, object{"description": ""}, id).ok() {
				if after := x.get(account, id); after.ok() {
					x.holds("update-service-account-description", after.record().Text("description") == "",
						"an empty text clears the description", "an empty text leaves the description as it was")
				}
			}
		},
	},
	{
		Name: "rotation of API keys",
		Rules: []string{
			"rotate-api-key",                      // A rotation that is refused so is replaced by a new key.
			"rotate-api-key-request-body",         // A rotation without a grace period has no body.
			"rotate-api-key-grace-period-minutes", // The validator of the grace period.
			"body-nothing",                        // The client sends no body where none is needed.
		},
		run: func(x *exam) {
			id := x.newAccount()
			if id == "" {
				return
			}
			newKey := func() (key string, use func() answer) {
				a := x.post(keys, object{"name": x.lab.NewName("key")}, id)
				if !a.ok() {
					x.blocked("creating an API key", a)
				}
				return a.record().Text("id"), x.useOf(a)
			}
			first, useFirst := newKey()
			second, useSecond := newKey()
			third, _ := newKey()
			fourth, _ := newKey()
			if first == "" || second == "" || third == "" || fourth == "" {
				return
			}
			worked := useFirst().ok() && useSecond().ok()
			bare := x.post(rotation, nil, id, first)
			x.answers("rotate-api-key-request-body", "a rotation without a body", bare, accepted)
			if bare.ok() {
				if worked {
					x.answers("rotate-api-key-request-body", "a key that was rotated without a body", useFirst(), 401)
				}
				x.answers("rotate-api-key", "another rotation of a rotated key", x.post(rotation, nil, id, first), 409)
			}
			beyond := x.post(rotation, object{"gracePeriodMinutes": 11}, id, second)
			within := x.post(rotation, object{"gracePeriodMinutes": 10}, id, second)
			if beyond.ok() { // Then the second rotation was refused because of the first.
				within = beyond
			}
			x.answers("rotate-api-key-grace-period-minutes", "a grace period of 10 minutes", within, accepted)
			x.refuses("rotate-api-key-grace-period-minutes", "one of 11 minutes", within, beyond, 400)
			if worked && within.ok() {
				if use := useSecond(); use.ok() || use.status == 401 {
					x.holds("rotate-api-key-grace-period-minutes", use.ok(), "a key works in its grace period", "a key does not work in its grace period")
				}
			}

			revoked := x.post(revocation, object{}, id, third)
			x.answers("body-nothing", "a revocation with an empty object", revoked, accepted)
			x.answers("body-nothing", "a revocation without a body", x.post(revocation, nil, id, fourth), accepted)
			if revoked.ok() {
				x.answers("rotate-api-key", "a rotation of a revoked key", x.post(rotation, nil, id, third), 409)
			}
		},
	},
	{
		Name: "keys of a service account",
		Rules: []string{
			"inactive-account-keys", // A guide says that the status is not enough for a leaked key.
			"deleted-account-keys",  // The warning of a destroy leaves out the keys.
		},
		run: func(x *exam) {
			id := x.newAccount()
			if id == "" {
				return
			}
			use := x.useOf(x.post(keys, object{"name": x.lab.NewName("key")}, id))
			if first := use(); !first.ok() {
				x.blocked("using a new key", first)
				return
			}
			if x.patch(account, object{"status": "inactive"}, id).ok() {
				x.answers("inactive-account-keys", "a key of an inactive account", use(), 401)
			}
			if x.remove(account, id).ok() {
				x.answers("deleted-account-keys", "a key of a deleted account", use(), 401)
			}
		},
	},
	{
		Name:  "expiry of API keys",
		Rules: []string{"api-key-expiry"}, // The client converts a time to this unit.
		run: func(x *exam) {
			id := x.newAccount()
			if id == "" {
				return
			}
			mint := func(expiresAt int64) answer {
				return x.post(keys, object{"name": x.lab.NewName("key"), "expiresAt": expiresAt}, id)
			}
			soon := time.Now().Add(24 * time.Hour)
			good, seconds := mint(soon.UnixMilli()), mint(soon.Unix())
			if good.isUnclear() || seconds.isUnclear() || !good.ok() && !seconds.ok() {
				x.blocked("a key that expires tomorrow", good)
				return
			}
			// The same time in seconds is one of 1970 if milliseconds are meant.
			x.holds("api-key-expiry", good.ok() && !seconds.ok(),
				"tomorrow is accepted in milliseconds, and not in seconds",
				"tomorrow in milliseconds was "+good.said()+", in seconds "+seconds.said())
		},
	},
}

// useOf returns a call that a new API key allows.
func (x *exam) useOf(minted answer) func() answer {
	key := cmp.Or(minted.record().Text("value"), minted.record().Text("key"))
	c, err := x.lab.Connect(key)
	if err != nil || key == "" {
		return func() answer { return answer{} }
	}
	return func() answer { return caller{x.ctx, c.Conn}.get(computers) }
}
