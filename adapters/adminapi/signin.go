package adminapi

import (
	"context"
	"net/http"
	"time"
)

// SignIn lets the owner's browser in to the page.
type SignIn interface {
	SignInLink() (SignInLink, error)
	SignInCode() (SignInCode, error)
}

// SignInLink is a private file that sends a browser to the page and signs it in.
// It works once and is gone after a minute.
type SignInLink struct {
	Page string `json:"page"` // address of the page, without a secret
	File string `json:"file"` // path
}

// SignInCode is what the owner types into the page, once.
type SignInCode struct {
	Page      string    `json:"page"`
	Code      string    `json:"code"`
	ExpiresAt time.Time `json:"expires_at"`
}

// SignInLink asks for a file that signs a browser in.
func (c *Client) SignInLink(ctx context.Context) (SignInLink, error) {
	return call[SignInLink](ctx, c, http.MethodPost, "/v1/signin/link")
}

// SignInCode asks for a code that a person types.
func (c *Client) SignInCode(ctx context.Context) (SignInCode, error) {
	return call[SignInCode](ctx, c, http.MethodPost, "/v1/signin/code")
}
