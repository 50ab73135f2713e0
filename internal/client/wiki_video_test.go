package client

import (
	"errors"
	"net/http"
	"reflect"
	"testing"
	"time"
)

func TestCreateWikiVideoUpload(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		answer string
		want   WikiVideoUpload
	}{
		"all":          {`{"url":"https://files.example/v","fields":{"key":"k"},"expiresAt":1772323200000}`, WikiVideoUpload{"https://files.example/v", map[string]string{"key": "k"}, at}},
		"other names":  {`{"uploadUrl":"https://files.example/v","formFields":{"key":"k"},"expiresAt":"2026-03-01T00:00:00Z"}`, WikiVideoUpload{"https://files.example/v", map[string]string{"key": "k"}, at}},
		"no fields":    {`{"url":"https://files.example/v","fields":{}}`, WikiVideoUpload{"https://files.example/v", map[string]string{}, time.Time{}}},
		"address only": {`{"url":"https://files.example/v","fields":null,"expiresAt":null}`, WikiVideoUpload{"https://files.example/v", nil, time.Time{}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
				if n == 1 {
					drop(w) // What was made is nobody's, so it is made again.
				}
				answerJSON(w, 200, tc.answer)
			})
			upload, err := c.CreateWikiVideoUpload(t.Context())
			if err != nil || !reflect.DeepEqual(*upload, tc.want) {
				t.Errorf("got %+v, %v", upload, err)
			}
			if rec.count(http.MethodPost) != 2 || rec.bodies[1] != "" || rec.requests[1].URL.Path != "/api/v0/wiki/video-upload-url" {
				t.Errorf("%d requests, the last to %s with %q", rec.count(http.MethodPost), rec.requests[1].URL, rec.bodies[1])
			}
		})
	}
}

func TestCreateWikiVideoUpload_needsAnAddress(t *testing.T) {
	t.Parallel()
	c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { answerJSON(w, 200, `{"fields":{"key":"k"}}`) })
	_, err := c.CreateWikiVideoUpload(t.Context())
	var answer *AnswerError
	if !errors.As(err, &answer) {
		t.Errorf("got %v", err)
	}
}
