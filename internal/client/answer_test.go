package client

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

// An update without an object in its answer is read back, and counts only if the object is as wanted then.
func TestChanged(t *testing.T) {
	t.Parallel()
	status := "inactive"
	for name, tc := range map[string]struct {
		answer, stored string
		reads          int
		wantErr        string // Empty for success.
	}{
		"the object":              {answer: `{"id":"sa_1","name":"a","status":"inactive"}`},
		"the object, wrapped":     {answer: `{"serviceAccount":{"id":"sa_1","name":"a","status":"inactive"}}`},
		"an ID in another case":   {answer: `{"id":"SA_1","name":"a","status":"inactive"}`},
		"nothing":                 {answer: ``, stored: `{"id":"sa_1","name":"a","status":"inactive"}`, reads: 1},
		"an empty object":         {answer: `{}`, stored: `{"id":"sa_1","name":"a","status":"inactive"}`, reads: 1},
		"a page":                  {answer: `<html>`, stored: `{"id":"sa_1","name":"a","status":"inactive"}`, reads: 1},
		"nothing, and no change":  {answer: `{}`, stored: `{"id":"sa_1","name":"a","status":"active"}`, reads: 1, wantErr: "is not changed"},
		"nothing, and none again": {answer: `{}`, stored: `{}`, reads: 1, wantErr: "read back"},
		"another object":          {answer: `{"id":"sa_2","name":"a","status":"inactive"}`, wantErr: "instead of sa_1"},
		"no name":                 {answer: `{"id":"sa_1"}`, wantErr: "lacks the field name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				if r.Method == http.MethodPatch {
					answerJSON(w, 200, tc.answer)
					return
				}
				answerJSON(w, 200, tc.stored)
			})
			updated, err := c.UpdateServiceAccount(t.Context(), "sa_1", UpdateServiceAccountRequest{Status: &status})
			if tc.wantErr == "" && (err != nil || updated.Status != "inactive") || tc.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tc.wantErr)) {
				t.Errorf("got %+v, %v", updated, err)
			}
			if rec.count(http.MethodGet) != tc.reads || rec.count(http.MethodPatch) != 1 {
				t.Errorf("%d reads, %d updates", rec.count(http.MethodGet), rec.count(http.MethodPatch))
			}
		})
	}
}

// What a deletion finds gone is deleted only where a listing lacks it too.
func TestDelete_ofWhatIsGone(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		deletion, listing string
		status            int // Of the listing.
		wantErr           bool
	}{
		"gone":                       {`{"detail":"no such account","status":404,"title":"Not Found"}`, `{"serviceAccounts":[]}`, 200, false},
		"listed all the same":        {`{"detail":"no such account","status":404,"title":"Not Found"}`, `{"serviceAccounts":[{"id":"sa_1","name":"a"}]}`, 200, true},
		"no listing":                 {`{"detail":"no such account","status":404,"title":"Not Found"}`, `{"detail":"no","status":403,"title":"x"}`, 403, true},
		"another server answers 404": {`<html>404</html>`, `{"serviceAccounts":[]}`, 200, true},
	} {
		c, _, _ := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
			if r.Method == http.MethodDelete {
				answerJSON(w, 404, tc.deletion)
				return
			}
			answerJSON(w, tc.status, tc.listing)
		})
		if err := c.DeleteServiceAccount(t.Context(), "sa_1"); IsGone(err) == tc.wantErr {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A key that sees another person's computers only cannot tell that a computer is gone.
func TestComputer_ofAnotherOwner(t *testing.T) {
	t.Parallel()
	const theirs = `{"id":"theirs","name":"b","providerType":"byom","ownerId":"user_b"}`
	for name, tc := range map[string]struct {
		listing string
		owner   ComputerOwner
		want    func(error) bool
	}{
		"another owner's listing": {theirs, ComputerOwner{Kind: "human", ID: "user_a"}, func(err error) bool {
			var other *OtherOwnerError
			return errors.As(err, &other) && other.Owner == "user_a" && other.Caller == "user_b"
		}},
		"the owner's own listing":     {strings.ReplaceAll(theirs, "user_b", "user_a"), ComputerOwner{Kind: "human", ID: "user_a"}, IsGone},
		"a listing of several owners": {theirs + "," + strings.NewReplacer("user_b", "user_a", "theirs", "x").Replace(theirs), ComputerOwner{Kind: "human", ID: "user_a"}, IsGone},
		"an owner that nobody knows":  {theirs, ComputerOwner{}, IsGone},
		"another account's own listing": {theirs, ComputerOwner{Kind: OwnerService, ID: "sa_1"}, func(err error) bool {
			var other *OtherOwnerError
			return errors.As(err, &other) && other.Owner == "sa_1" && other.Caller == "user_b"
		}},
		"an empty listing": {"", ComputerOwner{Kind: "human", ID: "user_a"}, func(err error) bool {
			var gone *GoneError
			return errors.As(err, &gone) && gone.SeesNothing
		}},
	} {
		c, _, _ := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
			if strings.HasSuffix(r.URL.Path, "/computers") {
				answerJSON(w, 200, `{"computers":[`+tc.listing+`]}`)
				return
			}
			answerJSON(w, 404, `{"detail":"no such computer","status":404,"title":"Not Found"}`)
		})
		for range 2 {
			if _, err := c.Computer(t.Context(), "mine", tc.owner); !tc.want(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// An account's own key may not name the account in a listing. What its own listing lacks is gone.
func TestComputer_goneWithTheAccountsOwnKey(t *testing.T) {
	t.Parallel()
	const missing, other = "", `{"id":"other","name":"b","providerType":"byom","ownerId":"sa_1"}`
	for name, tc := range map[string]struct {
		listing string
		want    func(error) bool
	}{
		"nothing is listed": {missing, IsGone},
		"others are listed": {other, IsGone},
		"it is listed":      {strings.ReplaceAll(other, "other", "mine"), func(err error) bool { return IsNotFound(err) && !IsGone(err) }},
		"another owner's are listed": {strings.ReplaceAll(other, "sa_1", "sa_2"), func(err error) bool {
			var foreign *OtherOwnerError
			return errors.As(err, &foreign) && foreign.Owner == "sa_1" && foreign.Caller == "sa_2"
		}},
	} {
		c, _, _ := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
			switch {
			case !strings.HasSuffix(r.URL.Path, "/computers"):
				answerJSON(w, 404, `{"detail":"no such computer","status":404,"title":"Not Found"}`)
			case r.URL.Query().Has("serviceAccountId"):
				answerJSON(w, 403, `{"detail":"no","status":403,"title":"Forbidden"}`)
			default:
				answerJSON(w, 200, `{"computers":[`+tc.listing+`]}`)
			}
		})
		if _, err := c.Computer(t.Context(), "mine", ComputerOwner{Account: "sa_1", Kind: OwnerService, ID: "sa_1"}); !tc.want(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A page is no word that something was done.
func TestCallNoAnswer(t *testing.T) {
	t.Parallel()
	for answer, ok := range map[string]bool{"": true, `{}`: true, ` {"deleted":true}`: true, `[]`: true, `<html>log in</html>`: false, "OK": false} {
		c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { answerJSON(w, 200, answer) })
		err := c.RevokeAPIKey(t.Context(), "sa", "key")
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "base_url") {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

func TestListing_saysWhichObjectIsNone(t *testing.T) {
	t.Parallel()
	for listing, want := range map[string]string{
		`{"id":"c1","name":"a","providerType":"x"},{"name":"b"}`:             "its object 2 is none: it holds no ID",
		`{"id":"c1","providerType":"x"}`:                                     "its object 1 is none: it lacks the field name",
		`{"id":"c1","name":"a","providerType":"x"},{"id":"c2","name":"b"}`:   "its object 2 is none: it lacks the field providerType",
		`{"id":"c1","name":"a","providerType":"x"},{"id":"c2","name":"b"},7`: "unexpected shape",
	} {
		c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { answerJSON(w, 200, `{"computers":[`+listing+`]}`) })
		if _, err := c.Computers(t.Context(), ComputerFilter{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", listing, err, want)
		}
	}
}
