package trials

import (
	"cmp"
	"strings"
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

var accountTrials = []Trial{{
	Name:  "service accounts",
	Rules: []string{"create-service-account", "update-service-account-description", "nul-character", "repeated-field", "invalid-request"},
	run: func(x *exam) {
		name := padded(x.lab.NewName("account"), 128)
		good := x.create(accounts, object{"name": name})
		if good.ok() {
			x.answers("create-service-account", "a second account of one name", x.create(accounts, object{"name": name}), 409)
		}
		bad := x.create(accounts, object{"name": padded(x.lab.NewName("account"), 129)})
		x.bounds("create-service-account", "a name of 128 characters", good, bad)
		id := x.newAccount()
		if id == "" {
			return
		}
		x.answers("create-service-account", "a creation without a name", x.create(accounts, object{"description": "No name."}), 400)

		within := x.patch(account, object{"description": strings.Repeat("x", 1024)}, id)
		beyond := x.patch(account, object{"description": strings.Repeat("x", 1025)}, id)
		x.bounds("update-service-account-description", "a description of 1024 characters", within, beyond)
		before := x.get(account, id)
		if before.record().Text("description") != "" && x.patch(account, object{"description": ""}, id).ok() {
			if after := x.get(account, id); after.ok() {
				x.holds("update-service-account-description", after.record().Text("description") == "",
					"an empty text clears the description", "an empty text leaves the description as it was")
			}
		}

		ordinary := x.patch(account, object{"description": "ordinary"}, id)
		x.refuses("nul-character", "a text with a NUL", ordinary, x.patch(account, object{"description": "a\x00b"}, id), 400)
		x.refuses("repeated-field", "a body with a field twice", ordinary, x.patch(account, text(`{"description":"a","description":"b"}`), id), 400)
		x.refuses("invalid-request", "a text with half of a surrogate pair", ordinary, x.patch(account, text(`{"description":"\ud800"}`), id), 400)
		x.refuses("invalid-request", "a text that is not UTF-8", ordinary, x.patch(account, text("{\"description\":\"\xff\"}"), id), 400)
	},
}}

var keyTrials = []Trial{
	{
		Name: "rotation of API keys",
		Rules: []string{
			"rotate-api-key", "rotate-api-key-request-body", "rotate-api-key-grace-period-minutes", "body-nothing",
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
			x.bounds("rotate-api-key-grace-period-minutes", "10 minutes", within, beyond)
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
		Name:  "expiry of API keys",
		Rules: []string{"api-key-expiry", "expiry-past"},
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
			if good.ok() && !seconds.ok() {
				x.answers("expiry-past", "a key that expired yesterday", mint(soon.Add(-48*time.Hour).UnixMilli()), 400)
			}
			x.refuses("api-key-expiry", "an expiry of 0", good, mint(0), 400)
			x.refuses("api-key-expiry", "an expiry beyond 2^53-1", good, mint(1<<53), 400)
		},
	},
}

// keyOf returns the value of a new API key.
func keyOf(minted answer) string {
	return cmp.Or(minted.record().Text("value"), minted.record().Text("key"))
}

// useOf returns a call that a new API key allows.
func (x *exam) useOf(minted answer) func() answer {
	c, err := x.lab.Connect(keyOf(minted))
	if err != nil || keyOf(minted) == "" {
		return func() answer { return answer{} }
	}
	return func() answer { return caller{x.ctx, c.Conn}.get(computers) }
}

// asAccount returns a caller with the key of a new service account.
func (x *exam) asAccount() (them caller, id string, ok bool) {
	if id = x.newAccount(); id == "" {
		return caller{}, "", false
	}
	minted := x.post(keys, object{"name": x.lab.NewName("key"), "expiresAt": time.Now().Add(24 * time.Hour).UnixMilli()}, id)
	key := keyOf(minted)
	if key == "" {
		x.obstacle = "creating an API key was " + minted.said() + ", without a value"
		return caller{}, "", false
	}
	c, err := x.lab.Connect(key)
	if err != nil {
		x.obstacle = "a new API key has a form that the client refuses"
		return caller{}, "", false
	}
	them = caller{x.ctx, c.Conn}
	// Only a key that works shows that a refusal has another reason.
	if a := them.get(computers); !a.ok() {
		x.blocked("a list with the key of a new service account", a)
		return caller{}, "", false
	}
	return them, id, true
}
