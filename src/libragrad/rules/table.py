"""The table: which rule serves which operation. To teach the library an operation, add its name.

Names are undressed: `add` stands for torch.add, Tensor.add, +, += and aten::add alike.
"""

from __future__ import annotations

from libragrad.rules import (
    activation,
    affine,
    attention,
    compound,
    division,
    normalisation,
    positions,
    product,
    recurrent,
    secant,
)
from libragrad.rules.call import Rule

_GROUPS: list[tuple[Rule, str]] = [
    (
        affine.linear_map,
        """
        view view_as reshape reshape_as flatten unflatten ravel contiguous clone to type type_as
        float double half bfloat16 cpu cuda alias
        transpose t T mT H mH permute movedim moveaxis swapaxes swapdims adjoint
        squeeze unsqueeze expand expand_as broadcast_to broadcast_tensors repeat
        repeat_interleave tile as_strided complex view_as_real view_as_complex view_copy
        getitem select index_select narrow gather take take_along_dim masked_select index
        unbind split split_with_sizes chunk tensor_split hsplit vsplit dsplit unfold fold
        im2col col2im diagonal diag diag_embed tril triu flip fliplr flipud roll rot90
        sum mean nansum nanmean cumsum trace neg negative positive real imag conj resolve_conj
        resolve_neg conj_physical unsafe_chunk unsafe_split meshgrid
        dropout dropout1d dropout2d dropout3d alpha_dropout feature_dropout native_dropout
        avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d
        adaptive_avg_pool3d pixel_shuffle pixel_unshuffle channel_shuffle
        interpolate upsample_nearest1d upsample_nearest2d upsample_nearest3d
        upsample_linear1d upsample_bilinear2d upsample_bicubic2d upsample_trilinear3d
        _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_bilinear2d_aa
        _upsample_bicubic2d_aa atleast_1d atleast_2d atleast_3d
        fft_fft fft_ifft fft_rfft fft_irfft fft_fft2 fft_ifft2 fft_rfft2 fft_irfft2 fft_fftn
        fft_ifftn fft_rfftn fft_irfftn fft_hfft fft_ihfft fft_fftshift fft_ifftshift stft istft
        combinations feature_alpha_dropout squeeze_copy
        pin_memory _pack_padded_sequence _pad_packed_sequence
        """,
    ),
    (
        affine.homogeneous,
        """
        relu leaky_relu prelu _prelu_kernel rrelu abs absolute norm linalg_norm
        linalg_vector_norm linalg_matrix_norm
        max_pool1d max_pool2d max_pool3d max_pool1d_with_indices max_pool2d_with_indices
        max_pool3d_with_indices adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d
        adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices
        adaptive_max_pool3d_with_indices fractional_max_pool2d max_unpool2d
        amax amin aminmax sort topk kthvalue median nanmedian mode msort cummax cummin
        std std_mean
        """,
    ),
    (
        affine.affine,
        """
        add sub subtract rsub cat concat concatenate stack hstack vstack dstack column_stack
        block_diag diff
        where masked_fill masked_scatter fill fill_diagonal index_fill index_put _index_put_impl
        setitem copy put index_copy index_add scatter scatter_add slice_scatter
        select_scatter diagonal_scatter pad constant_pad_nd zero nan_to_num
        """,
    ),
    (
        affine.locally_affine,
        """
        relu6 hardtanh clamp clip clamp_min clamp_max threshold softshrink hardshrink maximum
        minimum max min fmax fmin scatter_reduce fmod remainder embedding
        """,
    ),
    (
        affine.piecewise_constant,
        "sign sgn round floor ceil trunc fix heaviside floor_divide rfloordiv",
    ),
    (product.elementwise_product, "mul multiply"),
    (
        product.matrix_product,
        """
        matmul rmatmul mm bmm mv dot vdot inner outer ger einsum tensordot kron chain_matmul
        linalg_multi_dot linalg_vecdot
        """,
    ),
    (product.linear_layer, "linear"),
    (
        product.convolution,
        "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d",
    ),
    (product.added_product, "addmm addmv addbmm baddbmm addcmul"),
    (product.power, "pow square rpow float_power"),
    (product.product_over, "prod"),
    (product.variance, "var var_mean"),
    (product.glu, "glu"),
    (product.polar, "polar"),
    (division.quotient, "div divide true_divide rdiv"),
    (division.solution, "linalg_solve linalg_solve_triangular"),
    (division.reciprocal, "reciprocal rsqrt inverse linalg_inv"),
    (secant.root, "sqrt"),
    (activation.gated_activation, "gelu silu mish hardswish"),
    (
        secant.secant,
        """
        sigmoid special_expit hardsigmoid log_sigmoid tanh softplus softsign tanhshrink
        elu selu celu exp exp2 expm1 special_expm1 log1p special_log1p log log2 log10 sin cos tan
        sinh cosh asin acos atan asinh acosh atanh arctan erf erfc special_erf special_erfc
        special_ndtr sinc logit special_logit atan2 arctan2 angle lgamma
        """,
    ),
    (normalisation.layer_norm, "layer_norm"),
    (normalisation.rms_norm, "rms_norm"),
    (normalisation.group_norm, "group_norm"),
    (normalisation.instance_norm, "instance_norm"),
    (normalisation.batch_norm, "batch_norm"),
    (attention.softmax, "softmax softmin _softmax _safe_softmax special_softmax"),
    (attention.log_softmax, "log_softmax _log_softmax special_log_softmax"),
    (attention.log_sum_exp, "logsumexp special_logsumexp logaddexp logcumsumexp"),
    (attention.fused_attention, "scaled_dot_product_attention"),
    (positions.sampled, "grid_sample grid_sampler grid_sampler_2d grid_sampler_3d"),
    (compound.written_out(compound.cosine_similarity), "cosine_similarity"),
    (compound.written_out(compound.bilinear), "bilinear"),
    (compound.written_out(compound.addcdiv), "addcdiv"),
    (compound.written_out(compound.lerp), "lerp"),
    (compound.written_out(compound.hypot), "hypot"),
    (compound.written_out(compound.cdist), "cdist"),
    (compound.written_out(compound.mse_loss), "mse_loss"),
    (compound.written_out(recurrent.lstm), "lstm"),
    (compound.written_out(recurrent.gru), "gru"),
    (compound.written_out(recurrent.rnn_tanh), "rnn_tanh"),
    (compound.written_out(recurrent.rnn_relu), "rnn_relu"),
    (compound.written_out(recurrent.lstm_cell), "lstm_cell"),
    (compound.written_out(recurrent.gru_cell), "gru_cell"),
    (compound.written_out(recurrent.rnn_tanh_cell), "rnn_tanh_cell"),
    (compound.written_out(recurrent.rnn_relu_cell), "rnn_relu_cell"),
]

RULES: dict[str, Rule] = {name: rule for rule, names in _GROUPS for name in names.split()}
"""The rule of every operation that is known, by its undressed name."""
