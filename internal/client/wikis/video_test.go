package wikis

import (
	"errors"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

func TestCreateWikiVideoUpload(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		answer string
		want   VideoUpload
	}{
		"all":          {`{"url":"https://files.example/v","fields":{"key":"k"},"expiresAt":1772323200000}`, VideoUpload{"https://files.example/v", map[string]string{"key": "k"}, at}},
		"other names":  {`{"uploadUrl":"https://files.example/v","formFields":{"key":"k"},"expiresAt":"2026-03-01T00:00:00Z"}`, VideoUpload{"https://files.example/v", map[string]string{"key": "k"}, at}},
		"no fields":    {`{"url":"https://files.example/v","fields":{}}`, VideoUpload{"https://files.example/v", map[string]string{}, time.Time{}}},
		"address only": {`{"url":"https://files.example/v","fields":null,"expiresAt":null}`, VideoUpload{"https://files.example/v", nil, time.Time{}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
				if n == 1 {
					clienttest.Drop(w) // Nobody has the URL of the lost response, so the request is retried.
				}
				clienttest.RespondJSON(w, 200, tc.answer)
			})
			upload, err := c.CreateVideoUpload(t.Context())
			if err != nil || !reflect.DeepEqual(*upload, tc.want) {
				t.Errorf("got %+v, %v", upload, err)
			}
			if rec.Count(http.MethodPost) != 2 || rec.Bodies[1] != "" || rec.Requests[1].URL.Path != "/api/v0/wiki/video-upload-url" {
				t.Errorf("%d requests, the last to %s with %q", rec.Count(http.MethodPost), rec.Requests[1].URL, rec.Bodies[1])
			}
		})
	}
}

func TestCreateWikiVideoUpload_needsAnAddress(t *testing.T) {
	t.Parallel()
	c, _, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		clienttest.RespondJSON(w, 200, `{"fields":{"key":"k"}}`)
	})
	_, err := c.CreateVideoUpload(t.Context())
	var answer *wire.ResponseError
	if !errors.As(err, &answer) {
		t.Errorf("got %v", err)
	}
}
