package client

import (
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
