package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type sessionMessageModel struct {
	SessionID types.String        `tfsdk:"session_id"`
	Text      types.String        `tfsdk:"text"`
	Files     []messageFileModel  `tfsdk:"files"`
	Images    []messageImageModel `tfsdk:"images"`
}

// Message is agentyard_session_message.
var Message = crud.Operation{
	Name: "session_message",
	Description: "Sends a message to the agent of a session, such as its task." + ownersSession + "\n\n" +
		"**Answer.** Sending does not wait.",
	ActionNotes: " To wait for the answer, use the resources `agentyard_session_message` and `agentyard_session_answer`.\n\n**Once.** Each invocation sends the message at most once. If the response is lost, the action looks for the message in the session. " +
		"If it is not there, the action fails.\n\n" +
		"**Killed runs.** Terraform stores the trigger only after its actions. If the run is killed before that, the next apply sends the message again.\n\n" +
		"**Trigger.** With Terraform 1.16 and newer, the `action_trigger` of the session itself can also invoke the action, with `session_id = caller.id`. " +
		"But Terraform then stores the session in the state only after the action: a run that is killed before that loses the session. The example avoids this." + crud.WeakEvidence,
	ResourceNotes: " To wait for the answer, use the resource `agentyard_session_answer`.\n\n**Once.** Each apply sends the message at most once. If the response is lost, the provider looks for the message in the session. If it is not there, the apply fails.\n\n" +
		"**Killed runs.** After a killed run, the next apply sends only messages that are not in the state yet. A message that was being sent may arrive twice." + crud.WeakEvidence,
	Arguments: map[string]schema.Attribute{
		"session_id": sessionIDArgument,
		"text":       crud.RequiredNotBlank("Text of the message. Must not contain secrets: plans show it.", "Give the agent a task."),
		"files": schema.ListNestedAttribute{
			Optional:            true,
			MarkdownDescription: "Local files to send with the message. Must be at most 32 MiB in total, with `images`.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"path":       crud.RequiredText("Path of the file. Its name is sent too."),
				"media_type": crud.OptionalText("Media type of the file. Defaults to the type of its content. All text types are sent as `text/plain`."),
			}},
		},
		"images": schema.ListNestedAttribute{
			Optional:            true,
			MarkdownDescription: "Local images to send with the message.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"path": crud.RequiredText("Path of a JPEG, PNG, GIF, or WebP image."),
			}},
		},
	},
	Results: results.Attributes{
		"id":      results.Computed("The message's ID.", types.StringType),
		"sent_at": results.Computed("When the message was sent, by the service's clock (RFC 3339, UTC).", types.StringType),
	},
	Canonical: crud.CanonicalModel(func(m *sessionMessageModel) {
		for i := range m.Images {
			m.Images[i].Path = value.AbsolutePath(m.Images[i].Path)
		}
		for i, file := range m.Files {
			m.Files[i].Path = value.AbsolutePath(file.Path)
			if data, err := readAttachment(path.Empty(), file.Path.ValueString(), new(int64)); err == nil && !file.MediaType.IsUnknown() {
				m.Files[i].MediaType = types.StringValue(attachmentOf("", file.MediaType.ValueString(), data).MediaType)
			}
		}
	}),
	Run:  crud.Run(sendMessage),
	Verb: "send", Object: "message",
	Options: apierror.Options{atSession, ownersOnly, apierror.Advice{
		http.StatusBadRequest: "The message was not sent. Check that the session's computer is active, and that the service accepts the files and images.",
	}},
}

func sendMessage(ctx context.Context, c *client.Client, m *sessionMessageModel, call *crud.Call) (crud.Results, error) {
	files, images, err := m.attachments()
	if err != nil {
		return nil, err
	}
	id := m.SessionID.ValueString()
	call.Report("Sending a message to session %s", id)
	message, err := c.Sessions.Send(ctx, id, sessions.MessageRequest{Text: m.Text.ValueString(), Files: files, Images: images})
	if err != nil {
		return nil, unsent(id, err)
	}
	call.Report("Sent message %s to session %s", message.ID, id)
	return crud.Results{"id": types.StringValue(message.ID), "sent_at": value.Time(cmp.Or(message.CreatedAt.Time(), c.Conn.Clock.Now()))}, nil
}

// unsent says how to look for a message whose response was lost and that was not found afterwards.
func unsent(id string, err error) error {
	var lost *create.LostError
	if !errors.As(err, &lost) {
		return err
	}
	return &crud.ObjectError{Summary: "Message may not have been sent",
		Detail: fmt.Sprintf("%s\n\nThe service lists new messages late. Wait a minute, then check session %s with the data source agentyard_session_messages. If the message is missing there, send it again.", apierror.Sentences(lost), id)}
}
