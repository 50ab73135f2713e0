package session

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

type messageFileModel struct {
	Path      types.String `tfsdk:"path"`
	MediaType types.String `tfsdk:"media_type"`
}

type messageImageModel struct {
	Path types.String `tfsdk:"path"`
}

var imageTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// maxAttachments is how many bytes the files and images of a message may have, so that a wrong path cannot fill the memory. The
// service documents no limit.
const maxAttachments = 32 << 20

// attachments reads the files and images of a message.
func (m *sessionMessageModel) attachments() (files, images []sessions.Attachment, err error) {
	var total int64
	for i, file := range m.Files {
		data, err := readAttachment(path.Root("files").AtListIndex(i).AtName("path"), file.Path.ValueString(), &total)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, attachmentOf(filepath.Base(file.Path.ValueString()), file.MediaType.ValueString(), data))
	}
	for i, image := range m.Images {
		at := path.Root("images").AtListIndex(i).AtName("path")
		data, err := readAttachment(at, image.Path.ValueString(), &total)
		if err != nil {
			return nil, nil, err
		}
		mediaType := http.DetectContentType(data)
		if !slices.Contains(imageTypes, mediaType) {
			return nil, nil, &crud.ObjectError{At: at, Summary: "Not an image", Detail: fmt.Sprintf("%s must be a JPEG, PNG, GIF, or WebP image. Its content is %s.", image.Path.ValueString(), mediaType)}
		}
		images = append(images, sessions.Attachment{Type: "base64", MediaType: mediaType, Data: base64.StdEncoding.EncodeToString(data)})
	}
	return files, images, nil
}

// attachmentOf encodes a file: text as it is, and anything else in Base64.
func attachmentOf(name, mediaType string, data []byte) sessions.Attachment {
	detected, _, _ := strings.Cut(http.DetectContentType(data), ";")
	if mediaType == "" {
		mediaType = detected
	}
	if strings.HasPrefix(mediaType, "text/") && utf8.Valid(data) {
		return sessions.Attachment{Type: "text", MediaType: "text/plain", Data: string(data), Name: name}
	}
	return sessions.Attachment{Type: "base64", MediaType: mediaType, Data: base64.StdEncoding.EncodeToString(data), Name: name}
}

// readAttachment reads a file and adds its size to the total.
func readAttachment(at path.Path, name string, total *int64) ([]byte, error) {
	file, _, err := crud.OpenFile(at, "attachment", name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxAttachments-*total+1))
	if err != nil {
		return nil, err
	}
	if *total += int64(len(data)); *total > maxAttachments {
		return nil, &crud.ObjectError{At: at, Summary: "Attachments too large",
			Detail: fmt.Sprintf("The files and images of a message can have %d bytes in total. With %s, they have more. Send fewer or smaller files.", maxAttachments, name)}
	}
	return data, nil
}
